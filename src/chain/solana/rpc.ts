import { ChaintapeError } from '../../domain/errors.ts'
import { EndpointPool, type EndpointPoolParts, type EndpointSession } from '../evm/rpc/endpoint-pool.ts'
import { JsonRpcClient, type JsonRpcClientOptions } from '../evm/rpc/json-rpc-client.ts'
import { isUnknownBlock, toSolanaFailure } from './rpc-failure.ts'

export type Commitment = 'confirmed' | 'finalized'

/** Everything in an answer is untrusted, so nothing is typed before it is checked. */
export type RpcBlock = Readonly<Record<string, unknown>>

/** One node, known by name. */
export type SolanaNode = {
  readonly label: string
  slot(commitment: Commitment): Promise<number>
  /** Without its transactions; undefined if the slot was skipped, or the node does not have it. */
  blockHeader(slot: number): Promise<RpcBlock | undefined>
  block(slot: number): Promise<RpcBlock | undefined>
  /** The slots of the first blocks from this slot on, at most `limit`. */
  blocksFrom(slot: number, limit: number): Promise<number[]>
  /** It does not have what another node may have. */
  missedBlock(): void
  sawHead(height: number): void
}

/** Several nodes as one; see `EvmNodes`. */
export type SolanaNodes = {
  verified<T>(ask: (node: SolanaNode) => Promise<T>, only?: string): Promise<T>
  elsewhere<T>(
    label: string,
    ask: (node: SolanaNode) => Promise<T>,
  ): Promise<{ readonly asked: number; readonly answers: readonly T[] }>
  blame(label: string, reason: string): void
}

export type SolanaRpcOptions = Omit<EndpointPoolParts, 'clients' | 'chainId' | 'probe'> & {
  readonly urls: readonly string[]
  /** Identifies the cluster. */
  readonly genesisHash: string
  readonly http?: JsonRpcClientOptions
}

/** The node refuses a whole block if one transaction is of a later version. */
const MAX_TRANSACTION_VERSION = 1

export function createSolanaRpc({ urls, genesisHash, http, ...parts }: SolanaRpcOptions): SolanaNodes {
  const options = { ...http, failureOf: toSolanaFailure }
  const clients = urls.map((url, index) => new JsonRpcClient(url, index, options))
  const probe = {
    chainMethod: 'getGenesisHash',
    headMethod: 'getBlockHeight',
    headParams: [{ commitment: 'confirmed' }],
    chainOf: String,
  }
  const pool = new EndpointPool({ ...parts, clients, chainId: genesisHash, probe })
  return {
    verified: (ask, only) => pool.run((session) => ask(bindSolanaNode(session)), only),
    elsewhere: (label, ask) => pool.elsewhere(label, (session) => ask(bindSolanaNode(session))),
    blame: (label, reason) => pool.blame(label, reason),
  }
}

export function bindSolanaNode(session: Omit<EndpointSession, 'unproved'>): SolanaNode {
  const getBlock = async (
    slot: number,
    transactionDetails: 'full' | 'none',
  ): Promise<RpcBlock | undefined> => {
    const options = {
      ...{ commitment: 'confirmed', encoding: 'base64', transactionDetails, rewards: false },
      maxSupportedTransactionVersion: MAX_TRANSACTION_VERSION,
    }
    try {
      const answer = await session.request('getBlock', [slot, options])
      if (answer !== null) return asRecord(answer, 'getBlock')
    } catch (error) {
      if (!isUnknownBlock(error)) throw error
    }
    session.missedBlock()
    return undefined
  }
  return {
    label: session.label,
    missedBlock: session.missedBlock,
    sawHead: session.sawHead,
    slot: async (commitment) => asIndex(await session.request('getSlot', [{ commitment }]), 'getSlot'),
    blockHeader: (slot) => getBlock(slot, 'none'),
    block: (slot) => getBlock(slot, 'full'),
    blocksFrom: async (slot, limit) => {
      const answer = await session.request('getBlocksWithLimit', [slot, limit, { commitment: 'confirmed' }])
      if (!Array.isArray(answer) || answer.length > limit)
        throw invalid('getBlocksWithLimit: not that many slots')
      const slots = answer.map((each) => asIndex(each, 'getBlocksWithLimit'))
      const isAscending = slots.every((each, at) => each > (slots[at - 1] ?? slot - 1))
      if (!isAscending) throw invalid('getBlocksWithLimit: slots out of order')
      return slots
    },
  }
}

export function asIndex(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalid(`${name}: not a number`)
}

export function asRecord(value: unknown, name: string): RpcBlock {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RpcBlock
  throw invalid(`${name}: not an object`)
}

export function invalid(reason: string): ChaintapeError {
  return new ChaintapeError('node_answer_invalid', reason)
}
