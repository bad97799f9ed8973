import { layout, optional, repeated, u32, u256, u320, volatile } from '../../state/layout.ts'
import { EXTREMES } from './subject-row.ts'

/** By minute and subject: what was traded then, for as long as a window takes it in. */
export const MINUTE = layout({
  buyUsd: u320,
  sellUsd: u320,
  amountRaw: u320,
  buys: u32,
  sells: u32,
  /** How many wallets traded, bought and sold then and not since: with this minute they leave. */
  makers: u32,
  buyers: u32,
  sellers: u32,
  /** What the subject counted for afterwards. */
  closeUsd: optional(u256),
  /** The highest and the lowest price, and the newest minute before that had one further out still. */
  extremes: repeated(EXTREMES.length, { usd: optional(u256), outdoneBy: optional(u32) }),
  /** The minute with a trade before this one. */
  earlier: optional(u32),
  /** The subject that was traded next for the first time in this minute. */
  nextSubject: optional(u32),
  /** Hints: where the rows of `earlier`, of `nextSubject` in this minute, and of the subject itself stood. */
  earlierSlot: volatile,
  nextSlot: volatile,
  subjectSlot: volatile,
})

/** By minute: where the list of the subjects traded in it begins and ends, and how many lists of visits it has. */
export const TRADED_MINUTE = layout({
  firstSubject: u32,
  lastSubject: u32,
  visitLists: u32,
  /** Hints: where the rows of the two stood. */
  firstSlot: volatile,
  lastSlot: volatile,
})
