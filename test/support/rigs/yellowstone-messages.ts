import { base58 } from '@scure/base'
import {
  SubscribeUpdate,
  type SubscribeUpdateBlock,
  type SubscribeUpdateTransactionInfo,
} from '@triton-one/yellowstone-grpc'
import type { RpcTransaction } from '../../../src/chain/solana/parse-transaction.ts'
import { parseWireTransaction } from '../../../src/chain/solana/wire-transaction.ts'
import type { Header } from '../../../src/chain/source.ts'

/** The parts of a transaction's results that messages contain. */
type RpcMeta = {
  readonly err: unknown
  readonly fee?: number
  readonly preBalances?: readonly number[]
  readonly postBalances?: readonly number[]
  readonly innerInstructions?: readonly { index: number; instructions: readonly RpcInstruction[] }[] | null
  readonly logMessages?: readonly string[] | null
  readonly preTokenBalances?: readonly RpcTokenBalance[] | null
  readonly postTokenBalances?: readonly RpcTokenBalance[] | null
  readonly loadedAddresses?: { writable: readonly string[]; readonly: readonly string[] } | null
}
type RpcInstruction = {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: string
  readonly stackHeight?: number | null
}
type RpcTokenBalance = {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly programId?: string
  readonly uiTokenAmount: { amount: string; decimals: number; uiAmountString?: string }
}

const VOTE_LOG = 'Program Vote111111111111111111111111111111111111111 invoke [1]'
const ERROR = Uint8Array.of(8, 0, 0, 0)

/** A transaction of a JSON-RPC answer, in encoding `base64` or `json`, as a message of the stream. */
export function toTransactionInfo(
  { transaction, meta }: RpcTransaction,
  index: number,
): SubscribeUpdateTransactionInfo {
  const results = meta as RpcMeta
  const isVote = results.logMessages?.[0] === VOTE_LOG
  const { signature, keys, instructions } = isVote ? NO_TRANSACTION : partsOf(transaction)
  return {
    signature,
    isVote,
    index: String(index),
    transaction: {
      signatures: [signature],
      message: {
        header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 },
        accountKeys: keys,
        recentBlockhash: new Uint8Array(32),
        instructions,
        versioned: true,
        addressTableLookups: [],
      },
    },
    meta: toMeta(results),
  }
}

type Parts = {
  readonly signature: Uint8Array
  readonly keys: Uint8Array[]
  readonly instructions: { programIdIndex: number; accounts: Uint8Array; data: Uint8Array }[]
}
const NO_TRANSACTION: Parts = { signature: new Uint8Array(64), keys: [], instructions: [] }

function partsOf(transaction: unknown): Parts {
  if (Array.isArray(transaction)) {
    const wire = parseWireTransaction(Buffer.from(String(transaction[0]), 'base64'))
    if (wire === undefined) throw new Error('not a transaction')
    return {
      signature: wire.signature,
      keys: [...wire.keys],
      instructions: wire.instructions.map(({ program, ...rest }) => ({ programIdIndex: program, ...rest })),
    }
  }
  const { signatures, message } = transaction as {
    signatures: string[]
    message: { accountKeys: string[]; instructions: RpcInstruction[] }
  }
  return {
    signature: base58.decode(signatures[0] as string),
    keys: message.accountKeys.map((key) => base58.decode(key)),
    instructions: message.instructions.map(toInstruction),
  }
}

function toInstruction({ programIdIndex, accounts, data }: RpcInstruction) {
  return { programIdIndex, accounts: Uint8Array.from(accounts), data: base58.decode(data) }
}

function toMeta(meta: RpcMeta): SubscribeUpdateTransactionInfo['meta'] {
  const { innerInstructions, logMessages, loadedAddresses } = meta
  return {
    err: meta.err === null || meta.err === undefined ? undefined : { err: ERROR },
    fee: String(meta.fee ?? 0),
    preBalances: (meta.preBalances ?? []).map(String),
    postBalances: (meta.postBalances ?? []).map(String),
    innerInstructions: (innerInstructions ?? []).map(({ index, instructions }) => ({
      index,
      instructions: instructions.map((each) => ({
        ...toInstruction(each),
        ...(typeof each.stackHeight === 'number' && { stackHeight: each.stackHeight }),
      })),
    })),
    innerInstructionsNone: innerInstructions === null || innerInstructions === undefined,
    logMessages: [...(logMessages ?? [])],
    logMessagesNone: logMessages === null || logMessages === undefined,
    preTokenBalances: (meta.preTokenBalances ?? []).map(toTokenBalance),
    postTokenBalances: (meta.postTokenBalances ?? []).map(toTokenBalance),
    rewards: [],
    loadedWritableAddresses: (loadedAddresses?.writable ?? []).map((key) => base58.decode(key)),
    loadedReadonlyAddresses: (loadedAddresses?.readonly ?? []).map((key) => base58.decode(key)),
    returnData: undefined,
    returnDataNone: true,
  }
}

function toTokenBalance({ accountIndex, mint, owner, programId, uiTokenAmount }: RpcTokenBalance) {
  const { amount, decimals, uiAmountString } = uiTokenAmount
  return {
    ...{ accountIndex, mint, owner: owner ?? '', programId: programId ?? '' },
    uiTokenAmount: {
      uiAmount: Number(amount) / 10 ** decimals,
      ...{ amount, decimals, uiAmountString: uiAmountString ?? '' },
    },
  }
}

export function toBlockMessage(
  header: Pick<Header, 'number' | 'hash' | 'parentHash' | 'time'>,
  slot: number,
  parentSlot: number,
  transactions: SubscribeUpdateTransactionInfo[],
): SubscribeUpdateBlock {
  const { number, hash, parentHash, time } = header
  return {
    ...{ slot: String(slot), blockhash: hash, parentSlot: String(parentSlot), parentBlockhash: parentHash },
    blockTime: { timestamp: String(time) },
    blockHeight: { blockHeight: String(number) },
    rewards: undefined,
    transactions,
    executedTransactionCount: String(transactions.length),
    ...{ updatedAccountCount: '0', accounts: [], entriesCount: '0', entries: [] },
  }
}

const NO_UPDATE: SubscribeUpdate = {
  filters: ['chaintape'],
  ...{ account: undefined, slot: undefined, transaction: undefined, transactionStatus: undefined },
  ...{ block: undefined, ping: undefined, pong: undefined, blockMeta: undefined, entry: undefined },
  createdAt: undefined,
}

/** An update with one of its parts, as the reference implementation encodes it. */
export function encodeUpdate(part: Partial<SubscribeUpdate>): Buffer {
  return Buffer.from(SubscribeUpdate.encode({ ...NO_UPDATE, ...part }).finish())
}
