import type { BlockRef } from './envelope.ts'
import type { LogPosition } from './log-position.ts'

/** A store's progress on a chain: the head of the last change set it holds, and the position of that set in CHANGES. */
export type ChainHead = BlockRef & {
  readonly chain: string
  /** The `seq` of that change set; no record in the store has a later one. */
  readonly seq: number
  /** Unix seconds of the head block. */
  readonly time: number
  /** Unix seconds. Windows contain all trades since then: since the first block read, or after the last old one. */
  readonly startTime?: number
  readonly finalNumber: number
  readonly position: LogPosition
}
