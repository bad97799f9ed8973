import type { BlockRef, RawLog, RawTransaction } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { ChainSource, Header } from '../source.ts'
import type { EvmRpc, RpcBlock, RpcLog, RpcReceipt } from './rpc.ts'

const HASH = /^0x[0-9a-f]{64}$/
const ADDRESS = /^0x[0-9a-f]{40}$/
const DATA = /^0x(?:[0-9a-f]{2})*$/
const QUANTITY = /^0x[0-9a-f]+$/
const EMPTY_BLOOM = /^0x0*$/

export function createEvmSource(rpc: EvmRpc, options: { finalityDepth: number | undefined }): ChainSource {
  const headerAt = async (number: number): Promise<Header | undefined> => {
    const block = await rpc.blockByNumber(number)
    if (block === null) return undefined
    const header = toHeader(block)
    if (header.number !== number) throw invalid(`asked for block ${number}, got ${header.number}`)
    return header
  }
  const head = async (): Promise<Header> => {
    const block = await rpc.blockByTag('latest')
    if (block === null) throw invalid('the node has no latest block')
    return toHeader(block)
  }
  const finalised = async (): Promise<BlockRef | undefined> => {
    if (options.finalityDepth === undefined) {
      const block = await rpc.blockByTag('finalized')
      return block === null ? undefined : toHeader(block)
    }
    const number = (await head()).number - options.finalityDepth
    return number < 0 ? undefined : headerAt(number)
  }
  return {
    head,
    headerAt,
    finalised,
    headerOf: async (hash) => {
      const block = await rpc.blockByHash(hash)
      if (block === null) return undefined
      const header = toHeader(block)
      if (header.hash !== hash) throw invalid(`asked for block ${hash}, got ${header.hash}`)
      return header
    },
    transactions: async (header) => {
      const [block, receipts] = await Promise.all([rpc.blockByHash(header.hash), rpc.receipts(header.hash)])
      if (block === null || receipts === null)
        throw invalid(`the node does not know block ${header.hash} any more`)
      if (toHeader(block).hash !== header.hash) throw invalid(`asked for block ${header.hash}, got another`)
      return shaped(() => toTransactions(header, block, receipts))
    },
  }
}

function toHeader(block: RpcBlock): Header {
  return shaped(() => {
    const { number, hash, parentHash, timestamp } = block
    if (number === null || hash === null) throw invalid('the node answered with a pending block')
    if (!HASH.test(hash) || !HASH.test(parentHash)) throw invalid(`block ${number} has a malformed hash`)
    return { number: toIndex(number), hash, parentHash, time: toIndex(timestamp) }
  })
}

/** An answer in which not even the expected fields are there is invalid like any other wrong one. */
function shaped<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof ChaintapeError) throw error
    throw invalid(`the answer is not of the expected shape: ${String(error)}`)
  }
}

/** Receipts must be of this block, complete and in order; a bloom that says there are logs makes an empty answer a lie. */
function toTransactions(header: Header, block: RpcBlock, receipts: readonly RpcReceipt[]): RawTransaction[] {
  if (receipts.length !== block.transactions.length) {
    throw invalid(
      `block ${header.number}: ${receipts.length} receipts for ${block.transactions.length} transactions`,
    )
  }
  let nextLog = 0
  const transactions = receipts.map((receipt, index): RawTransaction => {
    if (receipt.blockHash !== header.hash) throw invalid(`receipt of another block in ${header.number}`)
    if (toIndex(receipt.transactionIndex) !== index)
      throw invalid(`receipts of ${header.number} out of order`)
    if (!HASH.test(receipt.transactionHash) || !ADDRESS.test(receipt.from)) throw invalid('malformed receipt')
    const logs = receipt.logs.map((log) => toLog(log, header, nextLog++))
    return { index, hash: receipt.transactionHash, from: receipt.from, logs }
  })
  if (nextLog === 0 && !EMPTY_BLOOM.test(block.logsBloom ?? '0x')) {
    throw invalid(`block ${header.number}: the bloom filter says there are logs, the receipts hold none`)
  }
  return transactions.filter(({ logs }) => logs.length > 0)
}

function toLog(log: RpcLog, header: Header, index: number): RawLog {
  if (log.blockHash !== header.hash || toIndex(log.logIndex) !== index) {
    throw invalid(`log ${index} of block ${header.number} is missing or out of order`)
  }
  if (!ADDRESS.test(log.address) || !log.topics.every((topic) => HASH.test(topic)))
    throw invalid('malformed log')
  if (!DATA.test(log.data)) throw invalid('malformed log data')
  return { index, address: log.address, topics: log.topics, data: Buffer.from(log.data.slice(2), 'hex') }
}

function toIndex(hex: string): number {
  // Number() alone would read '' and null as zero.
  const value = QUANTITY.test(hex) ? Number(hex) : Number.NaN
  if (!Number.isSafeInteger(value)) throw invalid(`not a number: ${hex}`)
  return value
}

function invalid(reason: string): ChaintapeError {
  return new ChaintapeError('node_answer_invalid', reason)
}
