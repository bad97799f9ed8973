import { BASE58_BYTES, readBase58 } from '../../domain/base58.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { Account } from './account.ts'

/** Everything in an answer is untrusted, so nothing is typed before it is checked. */
export type RpcBlock = Readonly<Record<string, unknown>>

export type NodeAccount = Account & { readonly lamports: bigint }

/** Mints, metadata and the pools that are read take less, even with several extensions. */
export const MAX_ACCOUNT_BYTES = 4_096

const scratch = new Uint8Array(BASE58_BYTES)

export function toAccounts(
  given: unknown,
  addresses: readonly string[],
  minSlot: number | undefined,
): (NodeAccount | undefined)[] {
  const answer = asRecord(given, 'getMultipleAccounts')
  const { value } = answer
  const slot = asIndex(asRecord(answer['context'], 'context')['slot'], 'context slot')
  // Behind a load balancer, the node that answers may not be the one that reported the block.
  if (slot < (minSlot ?? 0)) throw new RpcFailure('failed', `getMultipleAccounts: state of slot ${slot}`)
  if (!Array.isArray(value) || value.length !== addresses.length)
    throw invalid('getMultipleAccounts: not that many accounts')
  return value.map((each: unknown) => (each === null ? undefined : toAccount(each)))
}

export function toAccount(answer: unknown): NodeAccount {
  const { owner, data, space, lamports } = asRecord(answer, 'account')
  if (!isBase58Key(owner)) throw invalid('account: malformed owner')
  // Beyond 9 million SOL a number in JSON is not exact, but still an integer.
  if (typeof lamports !== 'number' || !Number.isInteger(lamports) || lamports < 0)
    throw invalid('account: malformed lamports')
  const [text, encoding]: unknown[] = Array.isArray(data) ? data : []
  if (typeof text !== 'string' || encoding !== 'base64') throw invalid('account: no base64 data')
  const bytes = Buffer.from(text, 'base64').subarray(0, MAX_ACCOUNT_BYTES)
  // Old nodes do not report the size.
  const size = space === undefined ? bytes.length : asIndex(space, 'space')
  return { owner, data: bytes, size, lamports: BigInt(lamports) }
}

export function isBase58Key(value: unknown): value is string {
  return typeof value === 'string' && readBase58(value, scratch, 0)
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
