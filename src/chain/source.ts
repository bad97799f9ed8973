import type { BlockRef, RawTransaction } from '../domain/envelope.ts'

/** A block's position in its chain. */
export type Header = BlockRef & { readonly parentHash: string; readonly time: number }

export type FetchedBlock = { readonly header: Header; readonly transactions: readonly RawTransaction[] }

/** Facts that are already in the log. */
export type KnownFacts = {
  knowsPool(address: string): boolean
  /** Its exchange was not read for some blocks, so its reserves have to be read again. */
  isOutdatedPool?(address: string): boolean
  knowsToken(address: string): boolean
  /** Its launch before the log began is in the log. */
  knowsLaunch?(token: string): boolean
  /** Its burned and locked balances are not in the log yet. */
  lacksNonCirculating?(address: string): boolean
}

/** The reason to distrust a node. */
export type Doubt = {
  readonly reason: string
  /** Our block is final, so even a lagging node can confirm it. */
  readonly isFinal: boolean
}

/**
 * A chain as a node reports it. Nodes are untrusted: an implementation verifies every response and throws
 * `node_answer_invalid` if it is inconsistent.
 */
export type ChainSource = {
  head(): Promise<Header>
  /** The canonical block at this height; undefined while the node has none. */
  headerAt(number: number): Promise<Header | undefined>
  /** With `child`, asks only the node that returned that block: a branch is one node's claim. */
  headerOf(hash: string, child?: Header): Promise<Header | undefined>
  /** The newest block that can no longer be undone. */
  finalised(): Promise<BlockRef | undefined>
  /** `headerAt` and `transactions` together: one round trip to a node instead of two. */
  blockAt?(number: number): Promise<FetchedBlock | undefined>
  /** Every transaction of this very block that emitted logs, with all its logs. */
  transactions(block: Header): Promise<RawTransaction[]>
  /**
   * With several nodes: asks the others whether `ours` is still in their chain, before trusting the node that returned
   * `suspect`. If one of them has it, the node is blamed and this throws `node_answer_invalid`. `unanswered`: there are
   * others, but none responded.
   */
  doubt?(suspect: BlockRef, ours: BlockRef, doubt: Doubt): Promise<'confirmed' | 'unanswered'>
}
