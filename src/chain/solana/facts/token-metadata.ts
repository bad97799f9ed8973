import { ByteCursor } from '../../../dex/solana/byte-cursor.ts'
import { base58Text, readBase58 } from '../../../domain/base58.ts'
import type { Account } from '../account.ts'
import type { Mint } from './mint-account.ts'
import { programAddress } from './program-address.ts'

export type TokenMetadata = {
  readonly name: Uint8Array
  readonly symbol: Uint8Array
  /** Whether an authority can still change it; undefined if the account does not report it. */
  readonly isMutable: boolean | undefined
}

export type MetaplexMetadata = TokenMetadata & { readonly updateAuthority: string | undefined }

const METAPLEX = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'
const METADATA_V1 = 4
const METADATA_EXTENSION = 19
const KEY_BYTES = 32
const CREATOR_BYTES = 34
/** Metaplex allows 32 bytes of name; Token-2022 has no limit of its own. */
const MAX_TEXT_BYTES = 1_024

const metaplexKey = keyOf(METAPLEX) as Uint8Array

/** The account in which Metaplex stores a token's metadata; undefined for what is no address. */
export function metadataAddress(mint: string): string | undefined {
  const key = keyOf(mint)
  const address =
    key === undefined ? undefined : programAddress([Buffer.from('metadata'), metaplexKey, key], metaplexKey)
  return address === undefined ? undefined : base58Text(address, 0)
}

/** What a mint reports about itself wins over the account of Metaplex. */
export function metadataOf(
  mint: string,
  { extensions }: Mint,
  account: Account | undefined,
): TokenMetadata | undefined {
  const extension = extensions.get(METADATA_EXTENSION)
  const own = extension === undefined ? undefined : readExtension(mint, extension)
  return own ?? (account === undefined ? undefined : readMetaplex(mint, account))
}

/** update_authority, mint, name, symbol, uri, more */
function readExtension(mint: string, value: Uint8Array): TokenMetadata | undefined {
  const cursor = new ByteCursor(value)
  const authority = cursor.bytes(KEY_BYTES)
  if (!isKey(cursor.bytes(KEY_BYTES), mint)) return undefined
  const name = readText(cursor)
  const symbol = readText(cursor)
  if (name === undefined || symbol === undefined) return undefined
  return { name, symbol, isMutable: authority.some((byte) => byte !== 0) }
}

/** key, update_authority, mint, name, symbol, uri, seller_fee, creators, primary_sale_happened, is_mutable */
export function readMetaplex(mint: string, { owner, data }: Account): MetaplexMetadata | undefined {
  if (owner !== METAPLEX) return undefined
  const cursor = new ByteCursor(data)
  if (cursor.u8() !== METADATA_V1) return undefined
  const authority = cursor.bytes(KEY_BYTES)
  if (!isKey(cursor.bytes(KEY_BYTES), mint)) return undefined
  const name = readText(cursor)
  const symbol = readText(cursor)
  if (name === undefined || symbol === undefined) return undefined
  cursor.skipText()
  cursor.skip(2)
  if (cursor.bool()) cursor.skip(cursor.u32() * CREATOR_BYTES)
  cursor.bool()
  const isMutable = cursor.bool()
  return {
    name,
    symbol,
    isMutable: cursor.isValid ? isMutable : undefined,
    updateAuthority: authority.some((byte) => byte !== 0) ? base58Text(authority, 0) : undefined,
  }
}

/** A Borsh string. Metaplex pads it with zeros. */
function readText(cursor: ByteCursor): Uint8Array | undefined {
  const length = cursor.u32()
  const all = cursor.bytes(length)
  if (!cursor.isValid) return undefined
  const text = all.subarray(0, MAX_TEXT_BYTES)
  let end = text.length
  while (end > 0 && text[end - 1] === 0) end--
  return text.slice(0, end)
}

function isKey(bytes: Uint8Array, text: string): boolean {
  return bytes.length === KEY_BYTES && base58Text(bytes, 0) === text
}

function keyOf(text: string): Uint8Array | undefined {
  const key = new Uint8Array(KEY_BYTES)
  return readBase58(text, key, 0) ? key : undefined
}
