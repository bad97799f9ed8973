import type { RpcBlock } from '../rpc/rpc-answers.ts'
import { keccakOf } from './receipts-trie.ts'

const PREFIX = Buffer.from('matic-bor-receipt-').toString('hex')

/**
 * The hash under which Polygon lists the bridge events at the end of a block. It is not a transaction: neither a root
 * nor the bloom filter of the header covers it, so it cannot be verified. No other chain uses this hash.
 */
export function stateSyncHash(block: RpcBlock): string {
  const number = BigInt(block.number ?? 0)
    .toString(16)
    .padStart(16, '0')
  return `0x${keccakOf(PREFIX + number + (block.hash ?? '0x').slice(2)).toString('hex')}`
}

/** The items without those of state sync, which the root does not cover. */
export function withoutStateSync<T>(
  block: RpcBlock,
  items: readonly T[],
  hashOf: (item: T) => unknown,
): readonly T[] {
  const last = items.at(-1)
  return last !== undefined && hashOf(last) === stateSyncHash(block) ? items.slice(0, -1) : items
}
