import { ByteCursor } from '../../../dex/solana/byte-cursor.ts'
import { base58Text } from '../../../domain/base58.ts'
import type { Account } from '../account.ts'
import type { Mint } from '../facts/mint-account.ts'
import { EXTENSION } from '../facts/mint-extensions.ts'
import { metadataAddress, readMetaplex } from '../facts/token-metadata.ts'

const KEY_BYTES = 32

/**
 * Who can change a token's name and symbol: empty if nobody can, undefined if unknown. A mint's own metadata wins over the
 * account of Metaplex, unless its pointer names a third account, which is not read.
 */
export function metadataPowers(
  token: string,
  { extensions }: Mint,
  metaplex: Account | undefined,
): readonly string[] | undefined {
  const pointer = extensions.get(EXTENSION.metadataPointer)
  if (pointer !== undefined && pointer.length < KEY_BYTES * 2) return undefined
  const [pointing, pointed] = pointer === undefined ? [] : [keyAt(pointer, 0), keyAt(pointer, KEY_BYTES)]
  const isElsewhere = pointed !== undefined && pointed !== token && pointed !== metadataAddress(token)
  const own = extensions.get(EXTENSION.metadata)
  const updating = isElsewhere
    ? undefined
    : own === undefined
      ? metaplexPowers(token, metaplex)
      : extensionPowers(token, own)
  const powers = pointing === undefined ? [] : [`metadata pointer authority ${pointing}`]
  if (updating === undefined) return powers.length === 0 ? undefined : powers
  return [...powers, ...updating]
}

/** update_authority, mint, then the texts, which may be cut off */
function extensionPowers(token: string, value: Uint8Array): string[] | undefined {
  if (value.length < KEY_BYTES * 2 || keyAt(value, KEY_BYTES) !== token) return undefined
  return updatable(keyAt(value, 0))
}

function metaplexPowers(token: string, account: Account | undefined): string[] | undefined {
  const metadata = account === undefined ? undefined : readMetaplex(token, account)
  if (metadata?.isMutable === undefined) return undefined
  return metadata.isMutable ? updatable(metadata.updateAuthority) : []
}

function updatable(authority: string | undefined): string[] {
  return authority === undefined ? [] : [`metadata update authority ${authority}`]
}

/** Undefined if the key is zero, which means none: it is the system program, and nobody can sign for it. */
function keyAt(bytes: Uint8Array, at: number): string | undefined {
  const key = new ByteCursor(bytes, at).bytes(KEY_BYTES)
  return key.some((byte) => byte !== 0) ? base58Text(key, 0) : undefined
}
