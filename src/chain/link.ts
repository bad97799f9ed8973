import type { BlockRef } from '../domain/envelope.ts'
import type { Header } from './source.ts'

/** The meaning of a new head for the chain as read so far. */
export type HeadMeaning =
  /** Nothing new. */
  | 'idle'
  /**
   * Lower than the last block read. A lagging node looks the same as a fork: without a parent hash as proof, it is
   * taken for lag.
   */
  | 'stale'
  /** There is more to read. */
  | 'ahead'
  /** Another hash at the same height. */
  | 'fork'

export function readHead(tip: BlockRef | undefined, head: BlockRef): HeadMeaning {
  if (tip === undefined || head.number > tip.number) return 'ahead'
  if (head.number < tip.number) return 'stale'
  return head.hash === tip.hash ? 'idle' : 'fork'
}

/** Whether this block continues the chain as read so far. A higher block with another parent proves a fork. */
export function continues(tip: BlockRef | undefined, next: Header): boolean {
  return tip === undefined || (next.number === tip.number + 1 && next.parentHash === tip.hash)
}

/** Deeper than any disagreement between nodes while a block propagates. */
const DEEP_FORK_BLOCKS = 8

/** Whether a fork is too deep to trust a single node. */
export function isDeepFork(tip: BlockRef, ancestor: BlockRef): boolean {
  return tip.number - ancestor.number >= DEEP_FORK_BLOCKS
}
