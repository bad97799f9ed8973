import { WINDOWS } from '../../domain/window.ts'
import { id, layout, optional, repeated, u32, u256, u320, volatile } from '../../state/layout.ts'

/** Indexes of the two extreme prices. */
export const HIGH = 0
export const LOW = 1
export const EXTREMES = [HIGH, LOW] as const

/**
 * The windows of a subject: of a pair, of a token, or of both while they are equal. Sums are exact even beyond the
 * range that can be published, see `published.ts`.
 */
export const SUBJECT = layout({
  pair: optional(id),
  token: optional(id),
  /** For a pair: the subject of its token, if the token has windows of its own. */
  ownOfToken: optional(u32),
  /** For a token: the pair that it shared windows with, and the first minute of its own windows. */
  partedFrom: optional(u32),
  partedAt: optional(u32),

  /** By length, shortest first. */
  windows: repeated(WINDOWS.length, {
    buyUsd: u320,
    sellUsd: u320,
    buys: u32,
    sells: u32,
    makers: u32,
    buyers: u32,
    sellers: u32,
    openUsd: optional(u256),
  }),
  /** Over 24 hours. */
  amountRaw: u320,
  /** The highest and the lowest price of 24 hours, and the newest minute that had it. */
  extremes: repeated(EXTREMES.length, { usd: optional(u256), minute: optional(u32) }),
  /** The price after the last block with a trade, and before the first one of that UTC day. */
  priceUsd: optional(u256),
  day: u32,
  dayOpenUsd: optional(u256),

  /** The last minute with a trade, and the last one with a trade that has a price. */
  lastMinute: optional(u32),
  lastPricedMinute: optional(u32),
  /** A hint: the last known slot of the last minute. */
  lastSlot: volatile,
})

/** By kind and id. A pair or token is looked up once per block; everything else refers to subjects by number. */
export const SUBJECT_NUMBER = layout({ subject: u32 })
