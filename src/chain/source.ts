import type { BlockRef, RawTransaction } from '../domain/envelope.ts'

/** A block's place in its chain. */
export type Header = BlockRef & { readonly parentHash: string; readonly time: number }

/**
 * A chain as a node shows it. Nodes are untrusted input: an implementation checks what it is told and throws
 * `node_answer_invalid` rather than pass on something that does not fit together.
 */
export type ChainSource = {
  head(): Promise<Header>
  /** The canonical block at this height; undefined while the node has none. */
  headerAt(number: number): Promise<Header | undefined>
  headerOf(hash: string): Promise<Header | undefined>
  /** The newest block that can no longer be undone. */
  finalised(): Promise<BlockRef | undefined>
  /** Every transaction of this very block that emitted logs, with all its logs. */
  transactions(block: Header): Promise<RawTransaction[]>
}
