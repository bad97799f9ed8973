import { ByteCursor } from '../../../dex/solana/byte-cursor.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../dex/solana/known-keys.ts'
import { base58Text } from '../../../domain/base58.ts'
import type { Account } from '../account.ts'

/** A mint of SPL Token or Token-2022. */
export type Mint = {
  readonly isToken2022: boolean
  readonly supplyRaw: bigint
  readonly decimals: number
  /** Who can create more of the token; undefined if nobody can. */
  readonly mintAuthority: string | undefined
  /** Who can freeze the account of a holder; undefined if nobody can. */
  readonly freezeAuthority: string | undefined
  /** Values of the extensions by type. The last one may be cut off, because only the first part of an account is read. */
  readonly extensions: ReadonlyMap<number, Uint8Array>
  /** The account is longer than the part that was read, so it may have more extensions. */
  readonly isCut: boolean
}

const MINT_BYTES = 82
/** Token-2022 keeps the type of an account behind the length of a token account, and the extensions behind it. */
const TYPE_AT = 165
const MINT_TYPE = 1
const NO_EXTENSION = 0

/** Undefined unless the account is an initialized mint of one of the two token programs. */
export function readMint({ owner, data, size }: Account): Mint | undefined {
  const isToken2022 = owner === TOKEN_2022_PROGRAM
  if (!isToken2022 && owner !== TOKEN_PROGRAM) return undefined
  const isExtended = isToken2022 && data.length > TYPE_AT && data[TYPE_AT] === MINT_TYPE
  if (data.length !== MINT_BYTES && !isExtended) return undefined
  const cursor = new ByteCursor(data)
  const mintAuthority = readAuthority(cursor)
  const supplyRaw = cursor.u64()
  const decimals = cursor.u8()
  const isInitialized = cursor.bool()
  const freezeAuthority = readAuthority(cursor)
  if (!cursor.isValid || !isInitialized) return undefined
  const extensions = isExtended ? readExtensions(data) : new Map<number, Uint8Array>()
  const about = { isToken2022, supplyRaw, decimals, mintAuthority, freezeAuthority }
  return { ...about, extensions, isCut: size > data.length }
}

/** A flag in four bytes, then the key, which is there in either case. */
function readAuthority(cursor: ByteCursor): string | undefined {
  const isSet = cursor.u32() === 1
  const key = cursor.bytes(32)
  return isSet && cursor.isValid ? base58Text(key, 0) : undefined
}

/** Type and length in two bytes each, then the value. A type occurs once. */
function readExtensions(data: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const extensions = new Map<number, Uint8Array>()
  const cursor = new ByteCursor(data, TYPE_AT + 1)
  while (cursor.remaining >= 4) {
    const type = cursor.u16()
    const length = cursor.u16()
    if (type === NO_EXTENSION) break
    const value = cursor.bytes(Math.min(length, cursor.remaining))
    if (!extensions.has(type)) extensions.set(type, value)
  }
  return extensions
}
