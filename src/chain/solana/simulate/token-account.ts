import { ByteCursor } from '../../../dex/solana/byte-cursor.ts'
import { BALANCE_PROGRAMS } from '../../../dex/solana/known-keys.ts'
import { base58Text } from '../../../domain/base58.ts'
import type { Account } from '../account.ts'

export type TokenAccount = {
  readonly mint: string
  readonly owner: string
  readonly amountRaw: bigint
  readonly isFrozen: boolean
}

const ACCOUNT_BYTES = 165
const ACCOUNT_TYPE = 2
/** Behind the amount: the delegate with its flag. */
const DELEGATE_BYTES = 36
const FROZEN = 2

/** Undefined unless it is an initialized token account. */
export function readTokenAccount({ owner: program, data }: Account): TokenAccount | undefined {
  const isExtended = data.length > ACCOUNT_BYTES && data[ACCOUNT_BYTES] === ACCOUNT_TYPE
  if (!BALANCE_PROGRAMS.includes(program) || (data.length !== ACCOUNT_BYTES && !isExtended)) return undefined
  const cursor = new ByteCursor(data)
  const mint = base58Text(cursor.bytes(32), 0)
  const owner = base58Text(cursor.bytes(32), 0)
  const amountRaw = cursor.u64()
  cursor.skip(DELEGATE_BYTES)
  const state = cursor.u8()
  return state === 0 ? undefined : { mint, owner, amountRaw, isFrozen: state === FROZEN }
}
