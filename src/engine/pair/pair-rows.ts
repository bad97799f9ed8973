import type { Pair, PairSide } from '../../domain/change.ts'
import type { ReadRow, Row } from '../../state/cursor.ts'
import { bytes, flag, id, layout, optional, repeated, u32, u256 } from '../../state/layout.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { writeSideNames } from '../../wire/field-codec.ts'

/** Sixty-four characters of up to four bytes: see `shownText`. */
const MAX_SYMBOL_BYTES = 256
const MAX_AMM_BYTES = 64

const SIDE = {
  token: id,
  symbol: bytes(MAX_SYMBOL_BYTES),
  decimals: optional(u32),
  reserveRaw: optional(u256),
  initialReserveRaw: optional(u256),
  priceUsd: optional(u256),
  priceNative: optional(u256),
} as const

/** A pair as it is published; its address is its key. */
export const PAIR = layout({
  amm: bytes(MAX_AMM_BYTES),
  /** Two layouts of one side each, so that both sides can be open at the same time. */
  side0: repeated(1, SIDE),
  side1: repeated(1, SIDE),
  targetToken: optional(id),
  isMain: flag,
  tvlUsd: optional(u256),
  tvlNative: optional(u256),
  fdvUsd: optional(u256),
  createdAt: optional(u32),
  updatedAt: u32,
  firstTradeAt: optional(u32),
  lastTradeAt: optional(u32),
  lastTradePriceUsd: optional(u256),
  isLastBuy: flag,
  isLastSell: flag,
  athPriceUsd: optional(u256),
  /** Its prices are by a route: its quote was no quote asset when they were set. */
  isRouted: flag,
})

export type PairRow = Row<typeof PAIR.fields>
export type ReadPairRow = ReadRow<typeof PAIR.fields>
export type SideRow = Row<typeof SIDE>
export type ReadSideRow = ReadRow<typeof SIDE>

/** The constant fields of a pair. */
export type PairNames = {
  readonly amm: string
  readonly token0: SideNames
  readonly token1: SideNames
  readonly targetToken: string | undefined
  /** Its id, exchange and target token in wire encoding. */
  readonly idOnWire: Uint8Array
  readonly ammOnWire: Uint8Array
  readonly targetOnWire: Uint8Array
}

export type SideNames = Pick<PairSide, 'token' | 'symbol' | 'decimals'> & {
  /** All of these in wire encoding. */
  readonly onWire: Uint8Array
}

export function namesOf(address: string, row: ReadPairRow): PairNames {
  const token0 = sideNamesOf(row.side0.at(0))
  const token1 = sideNamesOf(row.side1.at(0))
  // The same string object, so that comparing it is fast.
  const targetToken = [token0.token, token1.token].find((token) => token === row.targetToken)
  const amm = textOf(row.amm)
  return {
    amm,
    token0,
    token1,
    targetToken,
    idOnWire: onWire((w) => w.recurringId(address)),
    ammOnWire: onWire((w) => w.text(amm)),
    targetOnWire: onWire((w) => w.optional(targetToken, (token) => w.recurringId(token))),
  }
}

function sideNamesOf({ token, symbol: raw, decimals }: ReadSideRow): SideNames {
  const symbol = textOf(raw)
  return { token, symbol, decimals, onWire: onWire((w) => writeSideNames(w, { token, symbol, decimals })) }
}

function onWire(write: (w: ByteWriter) => void): Uint8Array {
  const w = new ByteWriter(64)
  write(w)
  return w.finish()
}

export function fillRow(row: PairRow, pair: Pair): void {
  row.amm = Buffer.from(pair.amm)
  fillSide(row.side0.at(0), pair.token0)
  fillSide(row.side1.at(0), pair.token1)
  row.targetToken = pair.targetToken
  row.isMain = pair.isMain
  row.tvlUsd = pair.tvlUsd
  row.tvlNative = pair.tvlNative
  row.fdvUsd = pair.fdvUsd
  row.createdAt = pair.createdAt
  row.updatedAt = pair.updatedAt
  row.firstTradeAt = pair.firstTradeAt
  row.lastTradeAt = pair.lastTradeAt
  row.lastTradePriceUsd = pair.lastTradePriceUsd
  row.isLastBuy = pair.lastSide === 'buy'
  row.isLastSell = pair.lastSide === 'sell'
  row.athPriceUsd = pair.athPriceUsd
}

function fillSide(row: SideRow, side: PairSide): void {
  row.token = side.token
  row.symbol = Buffer.from(side.symbol)
  row.decimals = side.decimals
  row.reserveRaw = side.reserveRaw
  row.initialReserveRaw = side.initialReserveRaw
  row.priceUsd = side.priceUsd
  row.priceNative = side.priceNative
}

/** A standalone record, unaffected by later blocks. */
export function recordOf(address: string, row: ReadPairRow): Pair {
  const { amm, token0, token1, targetToken } = namesOf(address, row)
  return {
    address,
    amm,
    token0: sideOf(token0, row.side0.at(0)),
    token1: sideOf(token1, row.side1.at(0)),
    targetToken,
    isMain: row.isMain,
    tvlUsd: row.tvlUsd,
    tvlNative: row.tvlNative,
    fdvUsd: row.fdvUsd,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    firstTradeAt: row.firstTradeAt,
    lastTradeAt: row.lastTradeAt,
    lastTradePriceUsd: row.lastTradePriceUsd,
    lastSide: row.isLastBuy ? 'buy' : row.isLastSell ? 'sell' : undefined,
    athPriceUsd: row.athPriceUsd,
  }
}

function sideOf({ token, symbol, decimals }: SideNames, row: ReadSideRow): PairSide {
  const { reserveRaw, initialReserveRaw, priceUsd, priceNative } = row
  return { token, symbol, decimals, reserveRaw, initialReserveRaw, priceUsd, priceNative }
}

function textOf(raw: Uint8Array): string {
  return Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('utf8')
}
