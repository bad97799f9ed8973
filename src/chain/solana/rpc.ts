import { EndpointPool, type EndpointPoolParts, type EndpointSession } from '../rpc/endpoint-pool.ts'
import { JsonRpcClient, type JsonRpcClientOptions } from '../rpc/json-rpc-client.ts'
import {
  asIndex,
  asRecord,
  invalid,
  isBase58Key,
  MAX_ACCOUNT_BYTES,
  type NodeAccount,
  type RpcBlock,
  toAccounts,
} from './rpc-answer.ts'
import { isRefused, isUnknownBlock, toSolanaFailure, unsupportedVersion } from './rpc-failure.ts'
import { type Simulation, toSimulation } from './simulate/simulation.ts'

export type Commitment = 'confirmed' | 'finalized'

/** One node, known by name. */
export type SolanaNode = {
  readonly label: string
  slot(commitment: Commitment): Promise<number>
  /** Without its transactions; undefined if the slot was skipped, or the node does not have it. */
  blockHeader(slot: number): Promise<RpcBlock | undefined>
  block(slot: number): Promise<RpcBlock | undefined>
  /** The slots of the first blocks from this slot on, at most `limit`. */
  blocksFrom(slot: number, limit: number): Promise<number[]>
  /** The first bytes of accounts in the newest state, of no slot before `minSlot`; undefined for those that do not exist. */
  accounts(addresses: readonly string[], minSlot?: number): Promise<(NodeAccount | undefined)[]>
  /** The token accounts that hold most of a mint, largest first. */
  largestAccounts(mint: string): Promise<string[]>
  /** Runs a transaction without signatures in the newest state, which stays as it is, and returns accounts after it. */
  simulate(transaction: Uint8Array, accounts: readonly string[], minSlot?: number): Promise<Simulation>
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
  /** The hash of the genesis block that the nodes serve. */
  genesisHash(): Promise<string>
}

export type SolanaRpcOptions = Omit<EndpointPoolParts, 'clients' | 'chainId' | 'probe'> & {
  readonly urls: readonly string[]
  /** Identifies the cluster. */
  readonly genesisHash: string
  readonly http?: JsonRpcClientOptions
}

/** The node refuses a whole block if one transaction is of a later version. */
export const MAX_TRANSACTION_VERSION = 1
/** Nodes return this many. */
const MAX_LARGEST = 20
/** The highest that the parameter can be. */
const ANY_VERSION = 0xff

type BlockDetails = 'full' | 'none'

export function createSolanaRpc({ urls, genesisHash, http, ...parts }: SolanaRpcOptions): SolanaNodes {
  const clients = urls.map((url, index) => new JsonRpcClient(url, index, toSolanaFailure, http))
  const probe = {
    chainMethod: 'getGenesisHash',
    headMethod: 'getBlockHeight',
    headParams: [{ commitment: 'confirmed' }],
    chainOf: String,
  }
  const pool = new EndpointPool({ ...parts, clients, chainId: genesisHash, probe })
  const oldNodes = new Set<string>()
  return {
    verified: (ask, only) => pool.run((session) => ask(bindSolanaNode(session, oldNodes)), { only }),
    elsewhere: (label, ask) => pool.elsewhere(label, (session) => ask(bindSolanaNode(session, oldNodes))),
    blame: (label, reason) => pool.blame(label, reason),
    genesisHash: async () => String(await pool.chainId()),
  }
}

/** `oldNodes` remembers the nodes that do not take the newest version of transactions. */
export function bindSolanaNode(
  session: Omit<EndpointSession, 'unproved'>,
  oldNodes: Set<string> = new Set(),
): SolanaNode {
  const askBlock = (slot: number, details: BlockDetails, version: number): Promise<unknown> => {
    const options = {
      ...{ commitment: 'confirmed', encoding: 'base64', transactionDetails: details, rewards: false },
      maxSupportedTransactionVersion: version,
    }
    return session.request('getBlock', [slot, options])
  }
  /**
   * Older nodes take version 0 only. If a block is refused twice, it has a transaction of a later version; asked for any
   * version, the node returns it as it is.
   */
  const askBlockOfAnyVersion = async (slot: number, details: BlockDetails): Promise<unknown> => {
    const isOld = oldNodes.has(session.label)
    let refusal = ''
    for (const version of isOld ? [0, ANY_VERSION] : [MAX_TRANSACTION_VERSION, 0, ANY_VERSION]) {
      try {
        const answer = await askBlock(slot, details, version)
        if (version === 0) oldNodes.add(session.label)
        return answer
      } catch (error) {
        if (!isRefused(error)) throw error
        refusal = error.message
      }
    }
    throw unsupportedVersion(slot, refusal)
  }
  const getBlock = async (slot: number, details: BlockDetails): Promise<RpcBlock | undefined> => {
    try {
      const answer = await askBlockOfAnyVersion(slot, details)
      if (answer !== null) return asRecord(answer, 'getBlock')
    } catch (error) {
      if (!isUnknownBlock(error)) throw error
    }
    session.missedBlock()
    return undefined
  }
  const accounts: SolanaNode['accounts'] = async (addresses, minSlot) => {
    const options = {
      ...{ commitment: 'confirmed', encoding: 'base64', dataSlice: { offset: 0, length: MAX_ACCOUNT_BYTES } },
      ...(minSlot !== undefined && { minContextSlot: minSlot }),
    }
    try {
      return toAccounts(
        await session.request('getMultipleAccounts', [addresses, options]),
        addresses,
        minSlot,
      )
    } catch (error) {
      // Some providers take fewer accounts at a time.
      if (!isRefused(error) || addresses.length < 2) throw error
      const middle = Math.ceil(addresses.length / 2)
      const first = await accounts(addresses.slice(0, middle), minSlot)
      return [...first, ...(await accounts(addresses.slice(middle), minSlot))]
    }
  }
  const simulate: SolanaNode['simulate'] = async (transaction, addresses, minSlot) => {
    const options = {
      ...{ commitment: 'confirmed', encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true },
      accounts: { encoding: 'base64', addresses },
      ...(minSlot !== undefined && { minContextSlot: minSlot }),
    }
    const encoded = Buffer.from(transaction).toString('base64')
    return toSimulation(
      await session.request('simulateTransaction', [encoded, options]),
      addresses.length,
      minSlot,
    )
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
    accounts,
    largestAccounts: async (mint) => {
      const answer = await session.request('getTokenLargestAccounts', [mint, { commitment: 'confirmed' }])
      const { value } = asRecord(answer, 'getTokenLargestAccounts')
      if (!Array.isArray(value)) throw invalid('getTokenLargestAccounts: no list')
      return value.slice(0, MAX_LARGEST).map((each) => {
        const { address } = asRecord(each, 'getTokenLargestAccounts')
        if (!isBase58Key(address)) throw invalid('getTokenLargestAccounts: malformed address')
        return address
      })
    },
    simulate,
  }
}
