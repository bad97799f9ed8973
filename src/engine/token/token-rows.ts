import type { Token, TokenLaunch, TokenOrigin, TokenPlatform, TokenRisk } from '../../domain/change.ts'
import type { ReadRow, Row } from '../../state/cursor.ts'
import { bytes, flag, id, layout, optional, u32, u256 } from '../../state/layout.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import type { Codec } from '../../wire/codec.ts'
import { readTokenNames, writeTokenNames } from '../../wire/record-codec.ts'

const MAX_PLATFORM_BYTES = 64

/** A token as it is published, without its names; its address is its key. */
export const TOKEN = layout({
  supplyRaw: optional(u256),
  priceUsd: optional(u256),
  priceNative: optional(u256),
  mainPair: optional(id),
  mainPairTvlUsd: optional(u256),
  /** Depth of the only pair with this token as its target, which is then the main pair. */
  onlyDepthUsd: optional(u256),
  /** Pairs with this token as their target are in the table `targetPairs`. */
  isTargetOfSeveral: flag,
  /** Pairs with this token as their quote are in the table `quotedPairs`. */
  isQuote: flag,
  tvlUsd: optional(u256),
  fdvUsd: optional(u256),
  marketCapUsd: optional(u256),
  /** The holding is known if the next two are. */
  burnedRaw: optional(u256),
  lockedRaw: optional(u256),
  holders: optional(u32),
  circulatingRaw: optional(u256),
  originAt: optional(u32),
  creator: id,
  firstTradeAt: optional(u32),
  firstTradePriceUsd: optional(u256),
  /** The first trade is the launch, because the token's whole history was read. */
  isLaunchKnown: flag,
  hasPlatform: flag,
  platform: bytes(MAX_PLATFORM_BYTES),
  platformCreatedAt: optional(u32),
  progressPpm: optional(u32),
  graduatedAt: optional(u32),
  riskScore: optional(u32),
  isHoneypot: flag,
  isNoHoneypot: flag,
  isMintable: flag,
  updatedAt: u32,
})

export type TokenRow = Row<typeof TOKEN.fields>
export type ReadTokenRow = ReadRow<typeof TOKEN.fields>

/** The constant fields of a token are a record that is written once. */
export type TokenNames = Pick<Token, 'address' | 'name' | 'symbol' | 'decimals'> & {
  /** All of these in wire encoding. */
  readonly onWire: Uint8Array
}

export const namesCodec: Codec<TokenNames> = {
  write: writeTokenNames,
  read: (r) => namesOf(readTokenNames(r)),
}

export function namesOf({ address, name, symbol, decimals }: Omit<TokenNames, 'onWire'>): TokenNames {
  const w = new ByteWriter(64)
  writeTokenNames(w, { address, name, symbol, decimals })
  return { address, name, symbol, decimals, onWire: w.finish() }
}

/** A standalone record, unaffected by later blocks. */
export function recordOf({ address, name, symbol, decimals }: TokenNames, row: ReadTokenRow): Token {
  return {
    address,
    name,
    symbol,
    decimals,
    supplyRaw: row.supplyRaw,
    priceUsd: row.priceUsd,
    priceNative: row.priceNative,
    mainPair: row.mainPair,
    mainPairTvlUsd: row.mainPairTvlUsd,
    tvlUsd: row.tvlUsd,
    fdvUsd: row.fdvUsd,
    marketCapUsd: row.marketCapUsd,
    holding: holdingOf(row),
    origin: originOf(row),
    launch: row.isLaunchKnown ? firstTradeOf(row) : undefined,
    platform: platformOf(row),
    risk: riskOf(row),
    updatedAt: row.updatedAt,
  }
}

export function holdingOf({ holders, burnedRaw, lockedRaw, circulatingRaw }: ReadTokenRow): Token['holding'] {
  if (burnedRaw === undefined || lockedRaw === undefined) return undefined
  return { holders, burnedRaw, lockedRaw, circulatingRaw }
}

export function originOf({ originAt: time, creator }: ReadTokenRow): TokenOrigin | undefined {
  return time === undefined ? undefined : { time, creator }
}

export function firstTradeOf({ firstTradeAt, firstTradePriceUsd }: ReadTokenRow): TokenLaunch | undefined {
  return firstTradeAt === undefined ? undefined : { time: firstTradeAt, priceUsd: firstTradePriceUsd }
}

export function platformOf(row: ReadTokenRow): TokenPlatform | undefined {
  if (!row.hasPlatform) return undefined
  const { platform, platformCreatedAt: createdAt, progressPpm, graduatedAt } = row
  return { name: Buffer.from(platform).toString('utf8'), createdAt, progressPpm, graduatedAt }
}

export function riskOf({
  riskScore,
  isHoneypot,
  isNoHoneypot,
  isMintable,
}: ReadTokenRow): TokenRisk | undefined {
  if (riskScore === undefined) return undefined
  return { score: riskScore, isHoneypot: isHoneypot || (isNoHoneypot ? false : undefined), isMintable }
}
