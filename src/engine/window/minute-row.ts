import { layout, optional, repeated, u32, u256, u320, volatile } from '../../state/layout.ts'
import { EXTREMES } from './subject-row.ts'

/** Trades of a subject in one minute, kept while a window contains the minute. */
export const MINUTE = layout({
  buyUsd: u320,
  sellUsd: u320,
  amountRaw: u320,
  buys: u32,
  sells: u32,
  /** Wallets whose last trade, purchase or sale was in this minute: they expire with it. */
  makers: u32,
  buyers: u32,
  sellers: u32,
  /** The subject's price after the minute. */
  closeUsd: optional(u256),
  /** The highest and the lowest price, and the latest earlier minute with a more extreme one. */
  extremes: repeated(EXTREMES.length, { usd: optional(u256), outdoneBy: optional(u32) }),
  /** The previous minute with a trade. */
  earlier: optional(u32),
  /** The subject that was first traded next in this minute. */
  nextSubject: optional(u32),
  /** Hints: the last known slots of `earlier`, of `nextSubject` in this minute, and of the subject itself. */
  earlierSlot: volatile,
  nextSlot: volatile,
  subjectSlot: volatile,
})

/** By minute: the first and last entry of the list of traded subjects, and the number of visit lists. */
export const TRADED_MINUTE = layout({
  firstSubject: u32,
  lastSubject: u32,
  visitLists: u32,
  /** Hints: the last known slots of the two. */
  firstSlot: volatile,
  lastSlot: volatile,
})
