import type { BlockRef } from '../domain/envelope.ts'
import type { Header } from './source.ts'

/** The meaning of a new head for the chain as read so far. */
export type HeadMeaning =
  /** Nothing new. */
  | 'idle'
  /** Lower than what was read. A node that lags looks the same as a fork: until a parent hash proves one, it lags. */
  | 'stale'
  /** There is more to read. */
  | 'ahead'
  /** The same height under another hash. */
  | 'fork'

export function readHead(tip: BlockRef | undefined, head: BlockRef): HeadMeaning {
  if (tip === undefined || head.number > tip.number) return 'ahead'
  if (head.number < tip.number) return 'stale'
  return head.hash === tip.hash ? 'idle' : 'fork'
}

/** Does this block continue the chain as read so far? A block above that names another parent proves a fork. */
export function continues(tip: BlockRef | undefined, next: Header): boolean {
  return tip === undefined || (next.number === tip.number + 1 && next.parentHash === tip.hash)
}

/** Far more than what nodes disagree about while a block travels between them. */
const DEEP_FORK_BLOCKS = 8

/** Is a fork so deep that one node's word is not enough? */
export function isDeepFork(tip: BlockRef, ancestor: BlockRef): boolean {
  return tip.number - ancestor.number >= DEEP_FORK_BLOCKS
}
