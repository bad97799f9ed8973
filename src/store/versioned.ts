import type { CandleRef, ChangeSet } from '../domain/change.ts'

export type Versioned<T> = { readonly seq: number; readonly record: T }

/** Changes of one version: the part of a change set that stores need. */
export type Versions = Pick<ChangeSet, 'chain' | 'seq' | 'changes'>

/** The candles that a store retains: the latest few of each series, of pairs that have traded since a time. */
export type CandleScope = { readonly recentCandles: number; readonly idleSince: number }

/** A page of the latest versions that one store reads to fill the other. */
export type LatestPage = {
  readonly versions: readonly Versions[]
  /** The oldest candle in the page of each series that has older ones. */
  readonly oldest: readonly CandleRef[]
}
