import { base58 } from '@scure/base'
import type { SolanaInstruction, SolanaTransaction, TokenBalance } from '../../dex/solana/transaction.ts'
import { signatureText } from '../../domain/base58.ts'
import {
  parseWireTransaction,
  SIGNATURE_BYTES,
  type WireInstruction,
  type WireTransaction,
} from './wire-transaction.ts'

/** An element of a JSON-RPC `getBlock` answer, in encoding `base64` or `json`, or a `getTransaction` answer. */
export type RpcTransaction = {
  readonly transaction: unknown
  readonly meta: unknown
}

const KEY_BYTES = 32
const AMOUNT = /^\d{1,20}$/
const MAX_AMOUNT = (1n << 64n) - 1n

/**
 * Parses a transaction from a JSON-RPC answer. Undefined if the answer is malformed or lacks the transaction's results:
 * a node may return anything.
 */
export function parseRpcTransaction(answer: RpcTransaction, slot: number): SolanaTransaction | undefined {
  try {
    return parse(answer, slot)
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}

class Malformed extends Error {}

function parse({ transaction, meta }: RpcTransaction, slot: number): SolanaTransaction {
  const results = record(meta)
  const wire = Array.isArray(transaction) ? fromBase64(transaction) : fromJson(transaction)
  const loaded = results['loadedAddresses']
  const keys = [...wire.keys, ...loadedKeys(loaded, 'writable'), ...loadedKeys(loaded, 'readonly')]
  const instructions = flatten(wire.instructions, list(results['innerInstructions'] ?? []), keys.length)
  return {
    signature: wire.signature.length === SIGNATURE_BYTES ? signatureText(wire.signature) : malformed(),
    slot,
    isFailed: results['err'] !== null && results['err'] !== undefined,
    keys,
    instructions,
    logMessages: list(results['logMessages'] ?? []).map(text),
    preTokenBalances: list(results['preTokenBalances'] ?? []).map((each) => tokenBalance(each, keys.length)),
    postTokenBalances: list(results['postTokenBalances'] ?? []).map((each) =>
      tokenBalance(each, keys.length),
    ),
    preBalances: list(results['preBalances']).map(lamports),
    postBalances: list(results['postBalances']).map(lamports),
  }
}

function fromBase64([encoded, encoding]: readonly unknown[]): WireTransaction {
  if (encoding !== 'base64') throw new Malformed()
  return parseWireTransaction(Buffer.from(text(encoded), 'base64')) ?? malformed()
}

function fromJson(transaction: unknown): WireTransaction {
  const { signatures, message } = record(transaction)
  const { accountKeys, instructions } = record(message)
  return {
    signature: bytesOf(list(signatures)[0]),
    keys: list(accountKeys).map(key),
    instructions: list(instructions).map((each) => instruction(record(each))),
  }
}

/** Puts the called instructions behind their callers. */
function flatten(
  outer: readonly WireInstruction[],
  inner: readonly unknown[],
  keyCount: number,
): SolanaInstruction[] {
  const called = new Map<number, readonly unknown[]>()
  for (const each of inner) {
    const { index, instructions } = record(each)
    called.set(keyIndex(index), list(instructions))
  }
  const all = outer.flatMap((each, index) => [
    { ...each, stackHeight: 1 },
    ...(called.get(index) ?? []).map((item) => {
      const fields = record(item)
      return { ...instruction(fields), stackHeight: stackHeight(fields['stackHeight']) }
    }),
  ])
  const isKnown = (index: number): boolean => index < keyCount
  for (const { program, accounts } of all) if (!isKnown(program) || !accounts.every(isKnown)) malformed()
  return all
}

function instruction(fields: Readonly<Record<string, unknown>>): WireInstruction {
  return {
    program: keyIndex(fields['programIdIndex']),
    accounts: Uint8Array.from(list(fields['accounts']), keyIndex),
    data: bytesOf(fields['data']),
  }
}

/** Transactions from before 2022 do not report the height of called instructions. */
function stackHeight(value: unknown): number {
  if (value === null || value === undefined) return 2
  return keyIndex(value)
}

function tokenBalance(value: unknown, keyCount: number): TokenBalance {
  const { accountIndex, mint, owner, programId, uiTokenAmount } = record(value)
  const account = keyIndex(accountIndex)
  const digits = text(record(uiTokenAmount)['amount'])
  const amount = AMOUNT.test(digits) ? BigInt(digits) : malformed()
  if (account >= keyCount || amount > MAX_AMOUNT) throw new Malformed()
  return {
    account,
    mint: text(mint),
    owner: optionalText(owner),
    program: optionalText(programId),
    amount,
  }
}

function loadedKeys(loaded: unknown, kind: 'writable' | 'readonly'): Uint8Array[] {
  return loaded === null || loaded === undefined ? [] : list(record(loaded)[kind]).map(key)
}

function key(value: unknown): Uint8Array {
  const bytes = bytesOf(value)
  return bytes.length === KEY_BYTES ? bytes : malformed()
}

function bytesOf(value: unknown): Uint8Array {
  const encoded = text(value)
  try {
    return base58.decode(encoded)
  } catch {
    return malformed()
  }
}

/** JSON rounds balances above 2^53 lamports, which is nine million SOL. */
function lamports(value: unknown): bigint {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? BigInt(value) : malformed()
}

function keyIndex(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xff
    ? value
    : malformed()
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : malformed()
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : malformed()
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : malformed()
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function malformed(): never {
  throw new Malformed()
}
