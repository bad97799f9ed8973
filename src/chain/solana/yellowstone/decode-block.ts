import { rawTransactionOf } from '../../../dex/solana/raw-transaction.ts'
import type { SolanaTransaction } from '../../../dex/solana/transaction.ts'
import type { RawLog, RawTransaction } from '../../../domain/envelope.ts'
import { invalid } from '../rpc-answer.ts'
import type { SlotHeader } from '../slots.ts'
import { toHeader } from '../source.ts'
import { decodeTransaction, readTransactionInfo, type TransactionInfo } from './decode-transaction.ts'
import { MessageReader } from './message-reader.ts'

export type LogsOf = (transaction: SolanaTransaction, firstIndex: number) => RawLog[]

export type LiveBlock = {
  readonly header: SlotHeader
  readonly transactions: readonly RawTransaction[]
  /** About how much memory it takes. */
  readonly bytes: number
}

/** Estimate of what objects and texts take, by transaction and by log. */
const OVERHEAD_BYTES = 400

/**
 * Decodes a block message. Votes and failed transactions are dropped before their contents are decoded. A block without
 * a time has that of its parent, as over JSON-RPC; undefined if `timeOf` does not know the parent. Throws
 * `node_answer_invalid` if anything in it cannot be true.
 */
export function decodeBlock(
  message: Uint8Array,
  logsOf: LogsOf,
  timeOf: (parentHash: string) => number | undefined,
): LiveBlock | undefined {
  let slot = 0
  let hash = ''
  let time: number | undefined
  let height: number | undefined
  let parentSlot = 0
  let parentHash = ''
  const infos: TransactionInfo[] = []
  const reader = new MessageReader(message)
  while (reader.isBefore(reader.end)) {
    const tag = reader.number()
    if (tag === 8) slot = reader.number()
    else if (tag === 18) hash = reader.text()
    else if (tag === 34) time = readWrapped(reader)
    else if (tag === 42) height = readWrapped(reader)
    else if (tag === 50) {
      const info = readTransactionInfo(reader)
      if (!info.isVote) infos.push(info)
    } else if (tag === 56) parentSlot = reader.number()
    else if (tag === 66) parentHash = reader.text()
    else reader.skip(tag)
  }
  time ??= timeOf(parentHash)
  if (time === undefined) return undefined
  const fields = { blockhash: hash, previousBlockhash: parentHash, parentSlot }
  const header = toHeader({ ...fields, blockHeight: height, blockTime: time }, slot)
  return toBlock(header, infos, logsOf)
}

/** A number in a message of its own, so that it can be absent. Zero has no field. */
function readWrapped(reader: MessageReader): number {
  let value = 0
  for (const end = reader.nested(); reader.isBefore(end); ) {
    const tag = reader.number()
    if (tag === 8) value = reader.number()
    else reader.skip(tag)
  }
  return value
}

function toBlock(header: SlotHeader, infos: TransactionInfo[], logsOf: LogsOf): LiveBlock {
  const { slot } = header
  const transactions: RawTransaction[] = []
  const signatures = new Set<string>()
  let logIndex = 0
  let bytes = OVERHEAD_BYTES
  let last = -1
  for (const info of infos.sort((a, b) => a.index - b.index)) {
    const { index } = info
    if (index === last) throw invalid(`slot ${slot} has two transactions at place ${index}`)
    last = index
    const transaction = decodeTransaction(info, slot)
    if (transaction === undefined) continue
    const { signature } = transaction
    if (signatures.has(signature)) throw invalid(`transaction ${signature} is twice in slot ${slot}`)
    signatures.add(signature)
    const logs = logsOf(transaction, logIndex)
    const raw = logs.length === 0 ? undefined : rawTransactionOf(transaction, index, logs)
    if (raw === undefined) continue
    logIndex += logs.length
    transactions.push(raw)
    bytes += OVERHEAD_BYTES * (1 + (raw.wallet?.tokens.length ?? 0))
    for (const { data } of logs) bytes += OVERHEAD_BYTES + data.length
  }
  return { header, transactions, bytes }
}
