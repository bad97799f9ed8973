import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { SolanaInstruction, SolanaTransaction, TokenBalance } from '../../../dex/solana/transaction.ts'
import { signatureText } from '../../../domain/base58.ts'
import { invalid } from '../rpc-answer.ts'
import { SIGNATURE_BYTES, type WireInstruction } from '../wire-transaction.ts'
import { MessageReader } from './message-reader.ts'

/** A transaction of a block message before its contents are decoded. */
export type TransactionInfo = {
  /** Its place in the block, transactions included that the filter left out. */
  readonly index: number
  readonly isVote: boolean
  readonly transaction: Uint8Array
  readonly meta: Uint8Array
}

type Meta = {
  readonly called: ReadonlyMap<number, readonly SolanaInstruction[]>
  /** Lamports by key, packed. */
  readonly before: Uint8Array
  readonly after: Uint8Array
  readonly loadedWritable: readonly Uint8Array[]
  readonly loadedReadonly: readonly Uint8Array[]
} & Pick<SolanaTransaction, 'preTokenBalances' | 'postTokenBalances'>

const NO_BYTES: Uint8Array = new Uint8Array(0)
/** An index of a key has one byte. */
const MAX_KEYS = 0x100
const LOG_MESSAGE = 50

export function readTransactionInfo(reader: MessageReader): TransactionInfo {
  let index = 0
  let isVote = false
  let transaction = NO_BYTES
  let meta = NO_BYTES
  for (const end = reader.nested(); reader.isBefore(end); ) {
    const tag = reader.number()
    if (tag === 16) isVote = reader.number() !== 0
    else if (tag === 26) transaction = reader.bytes()
    else if (tag === 34) meta = reader.bytes()
    else if (tag === 40) index = reader.number()
    else reader.skip(tag)
  }
  return { index, isVote, transaction, meta }
}

/** Undefined if the transaction failed. Throws `node_answer_invalid` if it is malformed. */
export function decodeTransaction(info: TransactionInfo, slot: number): SolanaTransaction | undefined {
  const meta = decodeMeta(info.meta)
  if (meta === undefined) return undefined
  let signature: Uint8Array | undefined
  const keys: Uint8Array[] = []
  const outer: WireInstruction[] = []
  const reader = new MessageReader(info.transaction)
  while (reader.isBefore(reader.end)) {
    const tag = reader.number()
    if (tag === 10 && signature === undefined) signature = reader.bytes()
    else if (tag === 18) readMessage(reader, keys, outer)
    else reader.skip(tag)
  }
  if (signature?.length !== SIGNATURE_BYTES) throw invalid('a transaction has no signature')
  const { called, loadedWritable, loadedReadonly, before, after, ...results } = meta
  for (const key of loadedWritable) keys.push(key)
  for (const key of loadedReadonly) keys.push(key)
  if (keys.length === 0 || keys.length > MAX_KEYS) throw invalid('a transaction has no keys, or too many')
  const instructions = inOrder(outer, called)
  expectKnownKeys(instructions, results, keys.length)
  let logMessages: readonly string[] | undefined
  return {
    ...{ signature: signatureText(signature), slot, isFailed: false, keys, instructions, ...results },
    // Most are never read: only a few programs emit their events in logs.
    get logMessages() {
      logMessages ??= logsIn(info.meta)
      return logMessages
    },
    get preBalances() {
      return lamportsIn(before)
    },
    get postBalances() {
      return lamportsIn(after)
    },
  }
}

function readMessage(reader: MessageReader, keys: Uint8Array[], outer: WireInstruction[]): void {
  for (const end = reader.nested(); reader.isBefore(end); ) {
    const tag = reader.number()
    if (tag === 18) keys.push(reader.key())
    else if (tag === 34) outer.push(readInstruction(reader))
    else reader.skip(tag)
  }
}

/** Undefined if it has an error, which comes first. */
function decodeMeta(bytes: Uint8Array): Meta | undefined {
  const called = new Map<number, SolanaInstruction[]>()
  const preTokenBalances: TokenBalance[] = []
  const postTokenBalances: TokenBalance[] = []
  let before = NO_BYTES
  let after = NO_BYTES
  const loadedWritable: Uint8Array[] = []
  const loadedReadonly: Uint8Array[] = []
  const reader = new MessageReader(bytes)
  while (reader.isBefore(reader.end)) {
    const tag = reader.number()
    switch (tag) {
      case 10:
        return undefined
      case 26:
        before = reader.bytes()
        break
      case 34:
        after = reader.bytes()
        break
      case 42:
        readCalled(reader, called)
        break
      case 58:
        preTokenBalances.push(readTokenBalance(reader))
        break
      case 66:
        postTokenBalances.push(readTokenBalance(reader))
        break
      case 98:
        loadedWritable.push(reader.key())
        break
      case 106:
        loadedReadonly.push(reader.key())
        break
      default:
        reader.skip(tag)
    }
  }
  const balances = { preTokenBalances, postTokenBalances }
  return { called, loadedWritable, loadedReadonly, before, after, ...balances }
}

function logsIn(meta: Uint8Array): string[] {
  const logs: string[] = []
  const reader = new MessageReader(meta)
  while (reader.isBefore(reader.end)) {
    const tag = reader.number()
    if (tag === LOG_MESSAGE) logs.push(reader.text())
    else reader.skip(tag)
  }
  return logs
}

function readInstruction(reader: MessageReader): SolanaInstruction {
  let program = 0
  let accounts = NO_BYTES
  let data = NO_BYTES
  // Transactions from before 2022 do not report the height of called instructions.
  let stackHeight = 2
  for (const end = reader.nested(); reader.isBefore(end); ) {
    const tag = reader.number()
    if (tag === 8) program = reader.keyIndex()
    else if (tag === 18) accounts = reader.bytes()
    else if (tag === 26) data = reader.bytes()
    else if (tag === 32) stackHeight = reader.keyIndex()
    else reader.skip(tag)
  }
  return { program, accounts, data, stackHeight }
}

/** The instructions that one instruction of the message called. */
function readCalled(reader: MessageReader, called: Map<number, SolanaInstruction[]>): void {
  let index = 0
  const instructions: SolanaInstruction[] = []
  for (const end = reader.nested(); reader.isBefore(end); ) {
    const tag = reader.number()
    if (tag === 8) index = reader.keyIndex()
    else if (tag === 18) instructions.push(readInstruction(reader))
    else reader.skip(tag)
  }
  if (called.has(index)) throw invalid('the calls of an instruction are reported twice')
  called.set(index, instructions)
}

function readTokenBalance(reader: MessageReader): TokenBalance {
  let account = 0
  let mint = ''
  let owner = ''
  let program = ''
  let amount: bigint | undefined
  for (const end = reader.nested(); reader.isBefore(end); ) {
    const tag = reader.number()
    if (tag === 8) account = reader.keyIndex()
    else if (tag === 18) mint = reader.ascii()
    else if (tag === 34) owner = reader.ascii()
    else if (tag === 42) program = reader.ascii()
    else if (tag === 26) amount = readTokenAmount(reader)
    else reader.skip(tag)
  }
  if (amount === undefined) throw invalid('a token balance has no amount')
  return {
    account,
    mint,
    owner: owner === '' ? undefined : owner,
    program: program === '' ? undefined : program,
    amount,
  }
}

function readTokenAmount(reader: MessageReader): bigint | undefined {
  let amount: bigint | undefined
  for (const end = reader.nested(); reader.isBefore(end); ) {
    const tag = reader.number()
    if (tag === 26) amount = reader.amount()
    else reader.skip(tag)
  }
  return amount
}

function lamportsIn(packed: Uint8Array): bigint[] {
  const reader = new BinaryReader(packed)
  const all: bigint[] = []
  while (reader.pos < packed.length) all.push(BigInt(reader.uint64()))
  return all
}

/** Puts the called instructions behind their callers. */
function inOrder(outer: readonly WireInstruction[], called: Meta['called']): SolanaInstruction[] {
  const all: SolanaInstruction[] = []
  for (const [index, { program, accounts, data }] of outer.entries()) {
    all.push({ program, accounts, data, stackHeight: 1 })
    for (const each of called.get(index) ?? []) all.push(each)
  }
  return all
}

function expectKnownKeys(
  instructions: readonly SolanaInstruction[],
  { preTokenBalances, postTokenBalances }: Pick<Meta, 'preTokenBalances' | 'postTokenBalances'>,
  count: number,
): void {
  let highest = 0
  for (const { program, accounts } of instructions) {
    highest = Math.max(highest, program)
    for (let nth = 0; nth < accounts.length; nth++) highest = Math.max(highest, accounts[nth] as number)
  }
  for (const { account } of preTokenBalances) highest = Math.max(highest, account)
  for (const { account } of postTokenBalances) highest = Math.max(highest, account)
  if (highest >= count) throw invalid('an instruction or a balance has an unknown key')
}
