import {
  createPublicClient,
  fallback,
  type Hex,
  HttpRequestError,
  http,
  RpcRequestError,
  TimeoutError,
} from 'viem'
import { ChaintapeError } from '../../domain/errors.ts'

/** The answers we use, as the node spells them. Every field is checked by whoever reads it. */
export type RpcBlock = {
  number: Hex | null
  hash: Hex | null
  parentHash: Hex
  timestamp: Hex
  logsBloom: Hex | null
  transactions: readonly unknown[]
}

export type RpcReceipt = {
  blockHash: Hex
  transactionHash: Hex
  transactionIndex: Hex
  from: Hex
  logs: readonly RpcLog[]
}

export type RpcLog = {
  blockHash: Hex
  logIndex: Hex
  address: Hex
  topics: readonly Hex[]
  data: Hex
}

export type EvmRpc = {
  chainId(): Promise<number>
  blockByTag(tag: 'latest' | 'finalized'): Promise<RpcBlock | null>
  blockByNumber(number: number): Promise<RpcBlock | null>
  blockByHash(hash: string): Promise<RpcBlock | null>
  receipts(blockHash: string): Promise<readonly RpcReceipt[] | null>
  /** What a contract answers in the state after this block; undefined when it reverts or answers nothing. */
  call(to: string, data: Hex, blockHash: string): Promise<Hex | undefined>
}

const TIMEOUT_MS = 10_000
const DATA = /^0x(?:[0-9a-f]{2})*$/
/** JSON-RPC's code for a revert; geth and anvil both use it. */
const EXECUTION_REVERTED = 3
/** Codes under which nodes also report other failures of the called contract; only the text tells them apart. */
const EXECUTION_FAILED = new Set([-32_000, -32_015])
const CONTRACT_FAULT = /revert|opcode|out of gas|stack|jump/i

export function createEvmRpc(urls: readonly string[]): EvmRpc {
  const transports = urls.map((url) => http(url, { batch: true, timeout: TIMEOUT_MS, retryCount: 0 }))
  const client = createPublicClient({ transport: fallback(transports, { retryCount: 0 }) })
  const request = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    try {
      return (await client.request({ method, params } as never)) as T
    } catch (error) {
      throw asNodeError(method, error)
    }
  }
  return {
    chainId: async () => Number(await request<Hex>('eth_chainId', [])),
    blockByTag: (tag) => request('eth_getBlockByNumber', [tag, false]),
    blockByNumber: (number) => request('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]),
    blockByHash: (hash) => request('eth_getBlockByHash', [hash, false]),
    receipts: (blockHash) => request('eth_getBlockReceipts', [blockHash]),
    call: async (to, data, blockHash) => {
      try {
        const answer = await request<Hex>('eth_call', [{ to, data }, { blockHash }])
        if (!DATA.test(answer)) throw new ChaintapeError('node_answer_invalid', 'eth_call: malformed answer')
        return answer === '0x' ? undefined : answer
      } catch (error) {
        if (isContractFault(error)) return undefined
        throw error
      }
    },
  }
}

function asNodeError(method: string, error: unknown): ChaintapeError {
  const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  const retryable = error instanceof HttpRequestError || error instanceof TimeoutError
  return new ChaintapeError(retryable ? 'node_unavailable' : 'node_answer_invalid', `${method}: ${reason}`, {
    cause: error,
  })
}

function isContractFault(error: unknown): boolean {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (!(inner instanceof RpcRequestError)) continue
    if (inner.code === EXECUTION_REVERTED) return true
    return EXECUTION_FAILED.has(inner.code) && CONTRACT_FAULT.test(inner.details)
  }
  return false
}
