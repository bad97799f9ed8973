import type { Hex } from 'viem'
import type { EndpointSession } from '../../rpc/endpoint-pool.ts'
import type { RpcFoundLog, RpcTransaction } from './rpc-answers.ts'

export type LogFilter = {
  /** One contract, or any of these; without it, all contracts. */
  readonly address?: string | readonly string[]
  /** Any of these. */
  readonly topics: readonly string[]
  readonly from: number
  readonly to: number
}

/** Logs filtered by address span many blocks, so each has its block number. */
export type RpcPastLog = RpcFoundLog & { blockNumber: Hex }

/** Requests to a node about the past of contracts. */
export type EvmPast = {
  pastLogs(filter: LogFilter): Promise<readonly RpcPastLog[]>
  /** Whether the address had code after this block; for old blocks, only archive nodes answer. */
  hadCode(address: string, block: number): Promise<boolean>
  /** Whether the address has code now. */
  hasCode(address: string): Promise<boolean>
  transaction(hash: string): Promise<RpcTransaction | null>
}

export function bindPast(session: EndpointSession): EvmPast {
  const hex = (number: number): Hex => `0x${number.toString(16)}`
  return {
    pastLogs: async ({ address, topics, from, to }) => {
      const filter = { address, topics: [topics], fromBlock: hex(from), toBlock: hex(to) }
      return (await session.request('eth_getLogs', [filter])) as readonly RpcPastLog[]
    },
    hadCode: async (address, block) => (await session.request('eth_getCode', [address, hex(block)])) !== '0x',
    hasCode: async (address) => (await session.request('eth_getCode', [address, 'latest'])) !== '0x',
    transaction: async (hash) =>
      (await session.request('eth_getTransactionByHash', [hash])) as RpcTransaction | null,
  }
}
