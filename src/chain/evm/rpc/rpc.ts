import type { Hex } from 'viem'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Probe } from '../../rpc/endpoint-asker.ts'
import { EndpointPool, type EndpointPoolParts, type EndpointSession } from '../../rpc/endpoint-pool.ts'
import { JsonRpcClient, type JsonRpcClientOptions } from '../../rpc/json-rpc-client.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import { toEvmFailure } from './evm-failure.ts'
import { bindPast, type EvmPast } from './history-rpc.ts'
import type { RpcBlock, RpcFoundLog, RpcReceipt } from './rpc-answers.ts'
import { bindState, type EvmState } from './state-rpc.ts'

/** A block's hash, as text. */
type BlockHash = string

export type EvmRpc = {
  chainId(): Promise<number>
  blockByTag(tag: 'latest' | 'finalized'): Promise<RpcBlock | null>
  blockByNumber(number: number): Promise<RpcBlock | null>
  blockByHash(hash: string): Promise<RpcBlock | null>
  /** The block with its transactions, not only their hashes. */
  fullBlockByHash(hash: string): Promise<RpcBlock | null>
  receipts(block: number | BlockHash): Promise<readonly RpcReceipt[] | null>
  logs(blockHash: string): Promise<readonly RpcFoundLog[]>
  /** The result of this code, run as a contract creation, in the state after this block; undefined if it reverts. */
  runCode(code: Hex, block: 'latest' | BlockHash): Promise<Hex | undefined>
}

/** One node, known by name. */
export type EvmNode = EvmRpc & EvmState & EvmPast & Pick<EndpointSession, 'label' | 'unproved'>

/** Several nodes as one. */
export type EvmNodes = EvmRpc & {
  /**
   * Asks all that `ask` asks of one node. If `ask` throws `node_answer_invalid`, that node is blamed and another
   * one asked; if the node does not have a block, the others are asked before that is believed. With `only`,
   * the node of this name is the only one.
   */
  verified<T>(ask: (node: EvmNode) => Promise<T>, only?: string): Promise<T>
  /** Asks the same of every node but this one: how many there are, and the answers of those that answered. */
  elsewhere<T>(
    label: string,
    ask: (node: EvmNode) => Promise<T>,
  ): Promise<{ readonly asked: number; readonly answers: readonly T[] }>
  blame(label: string, reason: string): void
}

export type EvmRpcOptions = Omit<EndpointPoolParts, 'clients' | 'probe'> & {
  readonly urls: readonly string[]
  readonly http?: JsonRpcClientOptions
}

/** How an endpoint reports its chain and its head. */
export const EVM_PROBE: Probe = {
  chainMethod: 'eth_chainId',
  headMethod: 'eth_blockNumber',
  headParams: [],
  chainOf: Number,
}

const DATA = /^0x(?:[0-9a-f]{2})*$/

/** `background` is for work that live blocks go before. */
export function createEvmRpc({ urls, http, ...parts }: EvmRpcOptions): EvmNodes & { background: EvmNodes } {
  const clients = urls.map((url, index) => new JsonRpcClient(url, index, toEvmFailure, http))
  const pool = new EndpointPool({ ...parts, clients, probe: EVM_PROBE })
  return { ...nodesOf(pool, false), background: nodesOf(pool, true) }
}

function nodesOf(pool: EndpointPool, isBackground: boolean): EvmNodes {
  const verified: EvmNodes['verified'] = (ask, only) =>
    pool.run((session) => ask(bind(session)), { only, isBackground })
  return {
    verified,
    elsewhere: (label, ask) => pool.elsewhere(label, (session) => ask(bind(session))),
    blame: (label, reason) => pool.blame(label, reason),
    chainId: async () => Number(await pool.chainId()),
    blockByTag: (tag) => verified((rpc) => rpc.blockByTag(tag)),
    blockByNumber: (number) => verified((rpc) => rpc.blockByNumber(number)),
    blockByHash: (hash) => verified((rpc) => rpc.blockByHash(hash)),
    fullBlockByHash: (hash) => verified((rpc) => rpc.fullBlockByHash(hash)),
    receipts: (block) => verified((rpc) => rpc.receipts(block)),
    logs: (blockHash) => verified((rpc) => rpc.logs(blockHash)),
    runCode: (code, block) => verified((rpc) => rpc.runCode(code, block)),
  }
}

function bind(session: EndpointSession): EvmNode {
  const request = async <T>(method: string, params: readonly unknown[]): Promise<T> =>
    (await session.request(method, params)) as T
  /** For what a node only lacks when it does not have the block. */
  const ofBlock = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    const answer = await request<T>(method, params)
    if (answer === null) session.missedBlock()
    return answer
  }
  return {
    ...bindState(session),
    ...bindPast(session),
    label: session.label,
    unproved: session.unproved,
    chainId: async () => Number(await request<Hex>('eth_chainId', [])),
    blockByTag: async (tag) => {
      const block = await request<RpcBlock | null>('eth_getBlockByNumber', [tag, false])
      const head = Number(block?.number ?? Number.NaN)
      if (tag === 'latest' && Number.isSafeInteger(head)) session.sawHead(head)
      return block
    },
    blockByNumber: (number) => ofBlock('eth_getBlockByNumber', [hexOf(number), false]),
    blockByHash: (hash) => ofBlock('eth_getBlockByHash', [hash, false]),
    fullBlockByHash: (hash) => ofBlock('eth_getBlockByHash', [hash, true]),
    receipts: (block) => ofBlock('eth_getBlockReceipts', [typeof block === 'number' ? hexOf(block) : block]),
    logs: (blockHash) => request('eth_getLogs', [{ blockHash }]),
    runCode: async (code, block) => {
      try {
        const at = block === 'latest' ? block : { blockHash: block }
        const answer = await request<Hex>('eth_call', [{ data: code }, at])
        if (!DATA.test(answer)) throw new ChaintapeError('node_answer_invalid', 'eth_call: malformed result')
        return answer
      } catch (error) {
        if (error instanceof RpcFailure && error.kind === 'reverted') return undefined
        throw error
      }
    },
  }
}

function hexOf(number: number): Hex {
  return `0x${number.toString(16)}`
}
