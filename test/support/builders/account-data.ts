import type { Account } from '../../../src/chain/solana/account.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/dex/solana/known-keys.ts'
import { readBase58 } from '../../../src/domain/base58.ts'

/** Accounts in the layouts that their programs publish. */

export const METAPLEX = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'

type MintContent = {
  readonly supply?: bigint
  readonly decimals?: number
  readonly mintAuthority?: string
  readonly freezeAuthority?: string
  readonly isInitialized?: boolean
}

type MetadataContent = {
  readonly mint: string
  readonly name: string
  readonly symbol: string
  readonly authority?: string
  readonly isMutable?: boolean
  readonly creators?: number
}

export function account(owner: string, data: Uint8Array): Account {
  return { owner, data, size: data.length }
}

export function keyBytes(text: string): Buffer {
  const bytes = Buffer.alloc(32)
  if (!readBase58(text, bytes, 0)) throw new Error(`not a key: ${text}`)
  return bytes
}

/** A mint of SPL Token: 82 bytes. */
export function splMint(content: MintContent = {}): Account {
  return account(TOKEN_PROGRAM, mintBytes(content))
}

/** A mint of Token-2022; `extensions` are pairs of type and value. */
export function token2022Mint(
  content: MintContent = {},
  extensions: readonly (readonly [number, Uint8Array])[] = [],
): Account {
  const base = mintBytes(content)
  if (extensions.length === 0) return account(TOKEN_2022_PROGRAM, base)
  const values = extensions.map(([type, value]) => Buffer.concat([u16(type), u16(value.length), value]))
  const padding = Buffer.alloc(165 - base.length)
  return account(TOKEN_2022_PROGRAM, Buffer.concat([base, padding, Buffer.of(1), ...values]))
}

/** The value of the metadata extension, type 19. */
export function metadataExtension({ mint, name, symbol, authority }: MetadataContent): Buffer {
  const key = authority === undefined ? Buffer.alloc(32) : keyBytes(authority)
  return Buffer.concat([key, keyBytes(mint), borshText(name), borshText(symbol), borshText(''), u32(0)])
}

/** An account of Metaplex, with its texts padded as the program does. */
export function metaplexMetadata(content: MetadataContent): Account {
  const { mint, name, symbol, authority, isMutable = true, creators = 0 } = content
  const parts = [
    Buffer.of(4),
    authority === undefined ? Buffer.alloc(32) : keyBytes(authority),
    keyBytes(mint),
    borshText(name.padEnd(32, '\0')),
    borshText(symbol.padEnd(10, '\0')),
    borshText('\0'.repeat(200)),
    u16(0),
    creators === 0 ? Buffer.of(0) : Buffer.concat([Buffer.of(1), u32(creators), Buffer.alloc(creators * 34)]),
    Buffer.of(0, isMutable ? 1 : 0),
  ]
  const data = Buffer.alloc(679)
  Buffer.concat(parts).copy(data)
  return account(METAPLEX, data)
}

function mintBytes(content: MintContent): Buffer {
  const { supply = 0n, decimals = 6, mintAuthority, freezeAuthority, isInitialized = true } = content
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(supply)
  const state = Buffer.of(decimals, isInitialized ? 1 : 0)
  return Buffer.concat([optionalKey(mintAuthority), amount, state, optionalKey(freezeAuthority)])
}

function optionalKey(text: string | undefined): Buffer {
  return Buffer.concat([
    u32(text === undefined ? 0 : 1),
    text === undefined ? Buffer.alloc(32) : keyBytes(text),
  ])
}

export function borshText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([u32(bytes.length), bytes])
}

function u16(value: number): Buffer {
  return Buffer.of(value & 0xff, value >> 8)
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
