import type { Hex } from 'viem'
import { ChaintapeError } from '../../domain/errors.ts'
import { EndpointPool, type EndpointPoolParts, type EndpointSession } from './endpoint-pool.ts'
import { JsonRpcClient, type JsonRpcClientOptions } from './json-rpc-client.ts'
import { RpcFailure } from './rpc-failure.ts'

/** The answers we use, as the node spells them. Every field is checked by whoever reads it. */
export type RpcBlock = {
  number: Hex | null
  hash: Hex | null
  parentHash: Hex
  timestamp: Hex
  logsBloom: Hex | null
  receiptsRoot?: Hex | null
  transactions: readonly unknown[]
}

export type RpcReceipt = {
  blockHash: Hex
  transactionHash: Hex
  transactionIndex: Hex
  from: Hex
  /** Left out by old nodes for transactions from before there were types. */
  type?: Hex | null
  status?: Hex | null
  /** Instead of the status, before Byzantium. */
  root?: Hex | null
  cumulativeGasUsed?: Hex | null
  logsBloom?: Hex | null
  /** OP-stack deposits only. */
  depositNonce?: Hex | null
  depositReceiptVersion?: Hex | null
  logs: readonly RpcLog[]
}

export type RpcLog = {
  blockHash: Hex
  logIndex: Hex
  address: Hex
  topics: readonly Hex[]
  data: Hex
}

/** A block's hash, as text. */
type BlockHash = string

export type EvmRpc = {
  chainId(): Promise<number>
  blockByTag(tag: 'latest' | 'finalized'): Promise<RpcBlock | null>
  blockByNumber(number: number): Promise<RpcBlock | null>
  blockByHash(hash: string): Promise<RpcBlock | null>
  receipts(blockHash: string): Promise<readonly RpcReceipt[] | null>
  /** What a contract answers in the state after this block; undefined when it reverts or answers nothing. */
  call(to: string, data: Hex, block: 'latest' | BlockHash): Promise<Hex | undefined>
}

/** Several nodes as one. */
export type EvmNodes = EvmRpc & {
  /**
   * Asks all that `ask` asks of one node. If `ask` throws `node_answer_invalid`, that node is blamed and another
   * one asked; if the node does not have a block, the others are asked before that is believed.
   */
  verified<T>(ask: (rpc: EvmRpc) => Promise<T>): Promise<T>
}

export type EvmRpcOptions = Omit<EndpointPoolParts, 'clients'> & {
  readonly urls: readonly string[]
  readonly http?: JsonRpcClientOptions
}

const DATA = /^0x(?:[0-9a-f]{2})*$/

export function createEvmRpc({ urls, http, ...parts }: EvmRpcOptions): EvmNodes {
  const clients = urls.map((url, index) => new JsonRpcClient(url, index, http))
  const pool = new EndpointPool({ ...parts, clients })
  const verified: EvmNodes['verified'] = (ask) => pool.run((session) => ask(bind(session)))
  return {
    verified,
    chainId: () => pool.chainId(),
    blockByTag: (tag) => verified((rpc) => rpc.blockByTag(tag)),
    blockByNumber: (number) => verified((rpc) => rpc.blockByNumber(number)),
    blockByHash: (hash) => verified((rpc) => rpc.blockByHash(hash)),
    receipts: (blockHash) => verified((rpc) => rpc.receipts(blockHash)),
    call: async (to, data, block) => {
      try {
        return await verified((rpc) => rpc.call(to, data, block))
      } catch (error) {
        if (!(error instanceof ChaintapeError && error.code === 'node_unavailable')) throw error
        // No node may have the state of a block this old any more: then today's is the best there is. If they are
        // all down instead, this fails too.
        return verified((rpc) => rpc.call(to, data, 'latest'))
      }
    },
  }
}

function bind(session: EndpointSession): EvmRpc {
  const request = async <T>(method: string, params: readonly unknown[]): Promise<T> =>
    (await session.request(method, params)) as T
  /** For what a node only lacks when it does not have the block. */
  const ofBlock = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    const answer = await request<T>(method, params)
    if (answer === null) session.missedBlock()
    return answer
  }
  return {
    chainId: async () => Number(await request<Hex>('eth_chainId', [])),
    blockByTag: async (tag) => {
      const block = await request<RpcBlock | null>('eth_getBlockByNumber', [tag, false])
      const head = Number(block?.number ?? Number.NaN)
      if (tag === 'latest' && Number.isSafeInteger(head)) session.sawHead(head)
      return block
    },
    blockByNumber: (number) => ofBlock('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]),
    blockByHash: (hash) => ofBlock('eth_getBlockByHash', [hash, false]),
    receipts: (blockHash) => ofBlock('eth_getBlockReceipts', [blockHash]),
    call: async (to, data, block) => {
      try {
        const at = block === 'latest' ? block : { blockHash: block }
        const answer = await request<Hex>('eth_call', [{ to, data }, at])
        if (!DATA.test(answer)) throw new ChaintapeError('node_answer_invalid', 'eth_call: malformed answer')
        return answer === '0x' ? undefined : answer
      } catch (error) {
        if (error instanceof RpcFailure && error.kind === 'reverted') return undefined
        throw error
      }
    },
  }
}
