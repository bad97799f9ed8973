import type { FetchedBlock } from '../../chain/source.ts'
import type { DexRegistry } from '../../dex/registry.ts'
import type { BlockEnvelope, RawLog, RawTransaction } from '../../domain/envelope.ts'
import type { DifferenceList } from '../../domain/reconciliation.ts'

export type BlockRules = {
  readonly registry: Pick<DexRegistry, 'poolOf'>
  /** Otherwise log indexes depend on the configured programs, and a log may be about any token of its program. */
  readonly isEvm: boolean
}

/**
 * Compares an archived block with the node's, as far as it can be read again:
 * - number, hash, parent and time;
 * - every archived transaction and log, which must be in the node's block;
 * - the node's logs of pools and tokens that the archived block has logs of, which must be archived.
 * Facts are left out: contracts were asked for them at that time, and may answer differently today. So are logs of pools
 * that the archived block does not mention, because the reader may not have known them then.
 */
export function compareBlock(
  archived: BlockEnvelope,
  { header, transactions }: FetchedBlock,
  { registry, isEvm }: BlockRules,
  differences: DifferenceList,
): void {
  const report = (what: string, stored: unknown, computed: unknown): void =>
    differences.add({
      kind: 'block',
      where: `block ${archived.number}`,
      what,
      stored: String(stored),
      computed: String(computed),
    })
  for (const field of ['number', 'hash', 'parentHash', 'time'] as const) {
    if (archived[field] !== header[field]) report(field, archived[field], header[field])
  }
  // The rest of another block differs as well.
  if (archived.hash !== header.hash) return
  const idOf = (log: RawLog): string => (isEvm ? String(log.index) : textOf(log))
  const stored = new Map(archived.transactions.map((transaction) => [transaction.hash, transaction]))
  const found = new Map(transactions.map((transaction) => [transaction.hash, transaction]))
  for (const transaction of archived.transactions) {
    const { hash, index, from } = transaction
    const same = found.get(hash)
    if (same === undefined) {
      report(`transaction ${hash}`, 'a transaction', 'none')
      continue
    }
    if (index !== same.index) report(`index of transaction ${hash}`, index, same.index)
    if (from !== same.from) report(`sender of transaction ${hash}`, from, same.from)
    compareLogs(transaction, same, idOf, report)
  }
  const sourceOf = (log: RawLog): string | undefined =>
    registry.poolOf(log, archived.number) ?? (isEvm ? `${log.address} ${log.topics[0] ?? ''}` : undefined)
  const sources = new Set(archived.transactions.flatMap(({ logs }) => logs.map(sourceOf)))
  sources.delete(undefined)
  for (const { hash, logs } of transactions) {
    const archivedLogs = new Set(stored.get(hash)?.logs.map(idOf))
    for (const log of logs) {
      if (!sources.has(sourceOf(log)) || archivedLogs.has(idOf(log))) continue
      report(`log ${log.index} of ${hash}`, 'none', 'a log')
    }
  }
}

function compareLogs(
  stored: RawTransaction,
  found: RawTransaction,
  idOf: (log: RawLog) => string,
  report: (what: string, stored: unknown, computed: unknown) => void,
): void {
  const logs = new Map(found.logs.map((log) => [idOf(log), log]))
  for (const log of stored.logs) {
    const what = `log ${log.index} of ${stored.hash}`
    const same = logs.get(idOf(log))
    const [before, now] = [log, same].map((each) => (each === undefined ? 'none' : textOf(each)))
    if (before !== now) report(what, before, now)
  }
}

function textOf({ address, topics, data }: RawLog): string {
  return [address, ...topics, Buffer.from(data).toString('hex')].join(' ')
}
