import type { BlockRef } from './envelope.ts'
import type { LogPosition } from './log-position.ts'

/** How far a store has come with a chain: what the last change set it holds said, and where in CHANGES that set ends. */
export type ChainHead = BlockRef & {
  readonly chain: string
  /** The `seq` of that change set: nothing in the store is newer. */
  readonly seq: number
  /** Unix seconds, of the head block. */
  readonly time: number
  /** Unix seconds, of the first block that was read: what happened before is not known. */
  readonly startTime?: number
  readonly finalNumber: number
  readonly position: LogPosition
}
