import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { RawLog } from '../../../src/domain/envelope.ts'

/** A transaction of a real chain with all of its logs, those of no exchange included. */
export type RecordedTransaction = {
  readonly chainId: number
  /** Zero where the recording does not say. */
  readonly block: number
  readonly file: string
  readonly hash: string
  readonly logs: readonly RawLog[]
}

export type RecordedBlock = {
  readonly file: string
  readonly chainId: number
  readonly number: number
  /** As counted when the block was recorded. */
  readonly swaps: Readonly<Record<string, number>>
}

type RpcLog = { address: string; topics: string[]; data: string; logIndex: string }
type RpcReceipt = { transactionHash: string; blockNumber: string; logs: RpcLog[] }
type EtlLog = {
  address: string
  topics: string[]
  data: string
  log_index: number
  block_number: number
  transaction_hash: string
}

const fixtures =
  process.env['CHAINTAPE_FIXTURES'] ?? resolve(import.meta.dirname, '../../../../shared/fixtures')
const folder = join(fixtures, 'evm')
export const hasRecordings = existsSync(folder)
if (!hasRecordings) console.log(`no fixtures at ${folder}: set CHAINTAPE_FIXTURES to run the golden tests`)

export function recordedBlocks(): RecordedBlock[] {
  return read<RecordedBlock[]>('blocks.index.json')
}

/** The text of a block's receipts, as a node sent it. */
export function receiptsText(block: RecordedBlock): string {
  return readFileSync(join(folder, 'blocks', block.file), 'utf8')
}

export function transactionsOf(block: RecordedBlock): RecordedTransaction[] {
  const receipts = JSON.parse(receiptsText(block)) as RpcReceipt[]
  return receipts.map((receipt) => fromReceipt(receipt, block.chainId, block.file))
}

/** Transactions of the whole blocks, of the single receipts and of the two blocks with logs only. */
export function allTransactions(): RecordedTransaction[] {
  const blocks = recordedBlocks().flatMap(transactionsOf)
  const single = read<{ chainId: number; receipt: RpcReceipt }[]>('receipts/rotki-dex-receipts.json').map(
    ({ chainId, receipt }) => fromReceipt(receipt, chainId, 'rotki-dex-receipts.json'),
  )
  const file = 'ethereum-17173049-17173050.logs.json'
  const logs = new Map<string, EtlLog[]>()
  for (const log of read<EtlLog[]>(`logs/${file}`)) {
    logs.set(log.transaction_hash, [...(logs.get(log.transaction_hash) ?? []), log])
  }
  const loose = [...logs].map(([hash, own]): RecordedTransaction => {
    const block = own[0]?.block_number ?? 0
    return { chainId: 1, block, file, hash, logs: own.map((log) => toRawLog(log, log.log_index)) }
  })
  return [...blocks, ...single, ...loose]
}

/** Single logs, of whatever transactions. */
export function recordedLogs(file: string): RawLog[] {
  return read<RpcLog[]>(`logs/${file}.log.json`).map((log) => toRawLog(log, 0))
}

/** The tokens of pools that trade in the blocks, found from transfers of equal amounts; by chain and address. */
export function derivedTokens(): Map<string, readonly [string, string]> {
  type Derived = { chainId: number; pool: string; token0: string; token1: string; consistent: boolean }
  const pools = read<Derived[]>('pools.derived.json').filter(({ consistent }) => consistent)
  return new Map(pools.map(({ chainId, pool, token0, token1 }) => [`${chainId} ${pool}`, [token0, token1]]))
}

function fromReceipt(receipt: RpcReceipt, chainId: number, file: string): RecordedTransaction {
  const { transactionHash: hash, blockNumber, logs } = receipt
  const block = Number(blockNumber)
  return { chainId, block, file, hash, logs: logs.map((log) => toRawLog(log, Number(log.logIndex))) }
}

function toRawLog(log: { address: string; topics: string[]; data: string }, index: number): RawLog {
  const { address, topics, data } = log
  return { index, address: address.toLowerCase(), topics, data: Buffer.from(data.slice(2), 'hex') }
}

function read<Content>(path: string): Content {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'))
}
