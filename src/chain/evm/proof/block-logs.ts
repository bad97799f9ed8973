import type { BlockRef, RawLog, RawTransaction } from '../../../domain/envelope.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { LogFilter, RpcPastLog } from '../rpc/history-rpc.ts'
import type { RpcBlock, RpcFoundLog, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/rpc-answers.ts'
import { stateSyncHash, withoutStateSync } from './state-sync.ts'
import { bloomOf, type ReceiptsRoot, verifyReceipts } from './verify-receipts.ts'

export const HASH = /^0x[0-9a-f]{64}$/
const ADDRESS = /^0x[0-9a-f]{40}$/
const DATA = /^0x(?:[0-9a-f]{2})*$/
const QUANTITY = /^0x[0-9a-f]+$/
const BLOOM = /^0x[0-9a-f]{512}$/

/** The block's transactions that emitted logs, with all their logs, as proved by the receipts. */
export function provedByReceipts(
  ref: BlockRef,
  block: RpcBlock,
  receipts: readonly RpcReceipt[],
  receiptsRoot: ReceiptsRoot,
): RawTransaction[] {
  return shaped(() => {
    const provable = withoutStateSync(block, receipts, ({ transactionHash }) => transactionHash)
    const transactions = fromReceipts(ref, block, provable)
    verifyReceipts(block, provable, receiptsRoot)
    return transactions.filter(({ logs }) => logs.length > 0)
  })
}

/**
 * The same from a node without receipts: only the bloom filter verifies that the logs belong to the block, and it does
 * not cover their data. `block` must be a full one.
 */
export function vouchedByBloom(
  ref: BlockRef,
  block: RpcBlock,
  logs: readonly RpcFoundLog[],
  receiptsRoot: ReceiptsRoot,
): RawTransaction[] {
  return shaped(() => {
    const stateSync = stateSyncHash(block)
    const provable = logs.filter(({ transactionHash }) => transactionHash !== stateSync)
    const transactions = fromLogs(ref, block, provable)
    expectBloomOf(provable, block, receiptsRoot)
    return transactions.filter((transaction) => transaction.logs.length > 0)
  })
}

/**
 * Receipts must belong to this block, complete and in order; their contents are compared with the header afterwards.
 */
function fromReceipts(ref: BlockRef, block: RpcBlock, receipts: readonly RpcReceipt[]): RawTransaction[] {
  const listed = withoutStateSync(block, block.transactions, (hash) => hash)
  if (receipts.length !== listed.length) {
    throw invalid(`block ${ref.number}: ${receipts.length} receipts for ${listed.length} transactions`)
  }
  let nextLog = 0
  return receipts.map((receipt, index): RawTransaction => {
    if (receipt.blockHash !== ref.hash) throw invalid(`receipt of another block in ${ref.number}`)
    if (toIndex(receipt.transactionIndex) !== index) throw invalid(`receipts of ${ref.number} out of order`)
    if (!HASH.test(receipt.transactionHash) || !ADDRESS.test(receipt.from)) throw invalid('malformed receipt')
    // The receipts root covers neither, so at least the block itself must list this transaction at this index.
    if (receipt.transactionHash !== listed[index])
      throw invalid(`receipt ${index} of ${ref.number} belongs to a missing transaction`)
    const logs = receipt.logs.map((log) => toLog(log, ref, nextLog++))
    return { index, hash: receipt.transactionHash, from: receipt.from, logs }
  })
}

/** Every log must belong to a transaction that the block has at this index, without gaps before the last. */
function fromLogs(ref: BlockRef, block: RpcBlock, logs: readonly RpcFoundLog[]): RawTransaction[] {
  const transactions = block.transactions.map((transaction, index) => {
    const { hash, from, blockHash, transactionIndex } = transaction as RpcTransaction
    if (blockHash !== ref.hash || transactionIndex === null || toIndex(transactionIndex) !== index)
      throw invalid(`transactions of ${ref.number} out of order or of another block`)
    if (!HASH.test(hash) || !ADDRESS.test(from)) throw invalid('malformed transaction')
    return { index, hash, from, logs: [] as RawLog[] }
  })
  let lastIndex = 0
  logs.forEach((log, logIndex) => {
    const index = toIndex(log.transactionIndex)
    const transaction = transactions[index]
    if (transaction === undefined || transaction.hash !== log.transactionHash)
      throw invalid(`log ${logIndex} of ${ref.number} belongs to a missing transaction`)
    if (index < lastIndex) throw invalid(`logs of ${ref.number} out of order`)
    if (log.removed === true) throw invalid(`log ${logIndex} of ${ref.number} was removed`)
    lastIndex = index
    transaction.logs.push(toLog(log, ref, logIndex))
  })
  return transactions
}

function expectBloomOf(logs: readonly RpcLog[], block: RpcBlock, receiptsRoot: ReceiptsRoot): void {
  const name = `block ${Number(block.number)}`
  const claimed = block.logsBloom
  if (claimed == null || !BLOOM.test(claimed)) throw invalid(`${name}: no bloom filter to verify its logs`)
  const actual = `0x${bloomOf(logs).toString('hex')}`
  if ((BigInt(claimed) & ~BigInt(actual)) !== 0n)
    throw invalid(`${name}: the bloom filter has a log that is missing`)
  // On chains with receipts outside the header, their logs may be added.
  if (receiptsRoot === 'verified' && actual !== claimed)
    throw invalid(`${name}: has a log that is not in the bloom filter`)
}

function toLog(log: RpcLog, ref: BlockRef, index: number): RawLog {
  if (log.blockHash !== ref.hash || toIndex(log.logIndex) !== index) {
    throw invalid(`log ${index} of block ${ref.number} is missing or out of order`)
  }
  if (!ADDRESS.test(log.address) || !log.topics.every((topic) => HASH.test(topic)))
    throw invalid('malformed log')
  if (!DATA.test(log.data)) throw invalid('malformed log data')
  return { index, address: log.address, topics: log.topics, data: Buffer.from(log.data.slice(2), 'hex') }
}

export type PastLog = RawLog & { readonly block: number; readonly transaction: string }

/** A log found by its contract, between two blocks. */
export function toPastLog(log: RpcPastLog, { address: asked, from, to }: Omit<LogFilter, 'topics'>): PastLog {
  const block = toIndex(log.blockNumber)
  const { address } = log
  const isAsked = typeof asked === 'string' ? address === asked : (asked?.includes(address) ?? true)
  if (!isAsked || block < from || block > to) throw invalid('a log outside the request')
  if (
    !ADDRESS.test(address) ||
    !HASH.test(log.transactionHash) ||
    !log.topics.every((topic) => HASH.test(topic))
  )
    throw invalid('malformed log')
  if (!DATA.test(log.data)) throw invalid('malformed log data')
  const data = Buffer.from(log.data.slice(2), 'hex')
  const { topics, transactionHash: transaction } = log
  return { index: toIndex(log.logIndex), address, topics, data, block, transaction }
}

/** A log found by its contract and topic, between two blocks. */
export function toFoundLog(log: RpcPastLog, filter: LogFilter): PastLog {
  const [topic] = log.topics
  if (topic === undefined || !filter.topics.includes(topic)) throw invalid('a log outside the request')
  return toPastLog(log, filter)
}

export function toIndex(hex: string): number {
  // Number() alone would read '' and null as zero.
  const value = QUANTITY.test(hex) ? Number(hex) : Number.NaN
  if (!Number.isSafeInteger(value)) throw invalid(`not a number: ${hex}`)
  return value
}

/** An answer without the expected fields is invalid, like any other wrong one. */
export function shaped<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof ChaintapeError) throw error
    throw invalid(`unexpected response format: ${String(error)}`)
  }
}

export function invalid(reason: string): ChaintapeError {
  return new ChaintapeError('node_answer_invalid', reason)
}
