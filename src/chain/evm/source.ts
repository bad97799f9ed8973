import type { BlockRef, RawLog, RawTransaction } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { ChainSource, Header } from '../source.ts'
import type { EvmNodes, EvmRpc, RpcBlock, RpcLog, RpcReceipt } from './rpc.ts'
import { type ReceiptsRoot, verifyReceipts } from './verify-receipts.ts'

const HASH = /^0x[0-9a-f]{64}$/
const ADDRESS = /^0x[0-9a-f]{40}$/
const DATA = /^0x(?:[0-9a-f]{2})*$/
const QUANTITY = /^0x[0-9a-f]+$/

export type EvmSourceOptions = {
  readonly finalityDepth: number | undefined
  readonly receiptsRoot: ReceiptsRoot
}

/** Each question is answered by one node alone: one that contradicts itself is then known by name. */
export function createEvmSource(
  nodes: EvmRpc & Partial<Pick<EvmNodes, 'verified'>>,
  options: EvmSourceOptions,
): ChainSource {
  const verified: EvmNodes['verified'] = nodes.verified ?? ((ask) => ask(nodes))
  const blocks: KnownBlocks = new WeakMap()
  const ask = <T>(question: (node: ChainSource) => Promise<T>): Promise<T> =>
    verified((rpc) => question(createNodeSource(rpc, options, blocks)))
  return {
    head: () => ask((node) => node.head()),
    headerAt: (number) => ask((node) => node.headerAt(number)),
    headerOf: (hash) => ask((node) => node.headerOf(hash)),
    finalised: () => ask((node) => node.finalised()),
    transactions: (block) => ask((node) => node.transactions(block)),
  }
}

/** What a header was made from: its receipts can then be proved without asking for the block again. */
type KnownBlocks = WeakMap<Header, RpcBlock>

function createNodeSource(rpc: EvmRpc, options: EvmSourceOptions, blocks: KnownBlocks): ChainSource {
  const headerAt = async (number: number): Promise<Header | undefined> => {
    const block = await rpc.blockByNumber(number)
    if (block === null) return undefined
    const header = toHeader(block)
    if (header.number !== number) throw invalid(`asked for block ${number}, got ${header.number}`)
    blocks.set(header, block)
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
      const receipts = await rpc.receipts(header.hash)
      if (receipts === null) throw invalid(`the node does not know block ${header.hash} any more`)
      const prove = (block: RpcBlock): RawTransaction[] =>
        shaped(() => {
          const transactions = toTransactions(header, block, receipts)
          verifyReceipts(block, receipts, options.receiptsRoot)
          return transactions.filter(({ logs }) => logs.length > 0)
        })
      const known = blocks.get(header)
      if (known !== undefined) {
        try {
          return prove(known)
        } catch (error) {
          if (!(error instanceof ChaintapeError)) throw error
          // Another node may have given that block: before this one is blamed, it may show its own.
        }
      }
      const block = await rpc.blockByHash(header.hash)
      if (block === null) throw invalid(`the node does not know block ${header.hash} any more`)
      if (toHeader(block).hash !== header.hash) throw invalid(`asked for block ${header.hash}, got another`)
      return prove(block)
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

/** Receipts must be of this block, complete and in order; what they say is compared with the header afterwards. */
function toTransactions(header: Header, block: RpcBlock, receipts: readonly RpcReceipt[]): RawTransaction[] {
  if (receipts.length !== block.transactions.length) {
    throw invalid(
      `block ${header.number}: ${receipts.length} receipts for ${block.transactions.length} transactions`,
    )
  }
  let nextLog = 0
  return receipts.map((receipt, index): RawTransaction => {
    if (receipt.blockHash !== header.hash) throw invalid(`receipt of another block in ${header.number}`)
    if (toIndex(receipt.transactionIndex) !== index)
      throw invalid(`receipts of ${header.number} out of order`)
    if (!HASH.test(receipt.transactionHash) || !ADDRESS.test(receipt.from)) throw invalid('malformed receipt')
    // The receipts' root covers neither: at least the block itself must name this transaction in this place.
    if (receipt.transactionHash !== block.transactions[index])
      throw invalid(`receipt ${index} of ${header.number} is of a transaction that is not there`)
    const logs = receipt.logs.map((log) => toLog(log, header, nextLog++))
    return { index, hash: receipt.transactionHash, from: receipt.from, logs }
  })
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
