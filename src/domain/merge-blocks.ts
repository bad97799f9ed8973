import type { BlockEnvelope, RawLog, RawTransaction } from './envelope.ts'

/** A block with the logs and facts of another reading of the same block. What both have is taken from the first. */
export function mergeBlocks(block: BlockEnvelope, added: BlockEnvelope): BlockEnvelope {
  const transactions = new Map(block.transactions.map((transaction) => [transaction.index, transaction]))
  for (const transaction of added.transactions) {
    const same = transactions.get(transaction.index)
    const logs = mergeLogs(same?.logs ?? [], transaction.logs)
    transactions.set(transaction.index, { ...(same ?? transaction), logs })
  }
  return {
    ...block,
    transactions: [...transactions.values()].sort(byIndex<RawTransaction>),
    facts: [...block.facts, ...added.facts],
  }
}

function mergeLogs(logs: readonly RawLog[], added: readonly RawLog[]): RawLog[] {
  const known = new Set(logs.map(({ index }) => index))
  return [...logs, ...added.filter(({ index }) => !known.has(index))].sort(byIndex<RawLog>)
}

function byIndex<T extends { readonly index: number }>(one: T, other: T): number {
  return one.index - other.index
}
