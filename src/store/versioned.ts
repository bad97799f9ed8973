import type { CandleRef, ChangeSet } from '../domain/change.ts'

export type Versioned<T> = { readonly seq: number; readonly record: T }

/** Changes of one version; a change set is that, and more. */
export type Versions = Pick<ChangeSet, 'chain' | 'seq' | 'changes'>

/** A part of what one store hands to the other. */
export type LatestPage = {
  readonly versions: readonly Versions[]
  /** The oldest candle in the page of each series that has older ones. */
  readonly oldest: readonly CandleRef[]
}
