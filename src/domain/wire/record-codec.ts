import type { Pair, PairSide, Token, Trade, TradeDirection, TradeRef, TradeSide } from '../change.ts'
import { ChaintapeError } from '../errors.ts'
import type { OrderKey } from '../order-key.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'

/** The published records as bytes: the CHANGES log and the engine's state write them the same way. */

/** Stands before records that are kept outside the log, where no message around them tells their layout. */
export const RECORD_VERSION = 3

export function writeOrderKey(w: ByteWriter, key: OrderKey): void {
  w.varuint(key.block)
  w.varuint(key.tx)
  w.varuint(key.log)
}

export function readOrderKey(r: ByteReader): OrderKey {
  return { block: r.varuint(), tx: r.varuint(), log: r.varuint() }
}

export function writeTrade(w: ByteWriter, trade: Trade): void {
  writeTradeRef(w, trade)
  w.text(trade.amm)
  w.id(trade.transaction)
  w.recurringId(trade.sender)
  w.recurringId(trade.recipient)
  w.id(trade.wallet)
  w.optional(trade.targetToken, (token) => w.recurringId(token))
  writeDirection(w, trade.side)
  writeTradeSide(w, trade.sold)
  writeTradeSide(w, trade.bought)
  writeMoney(w, trade.valueUsd)
  writeMoney(w, trade.valueNative)
  writeMoney(w, trade.liquidityUsd)
  writeMoney(w, trade.liquidityNative)
}

export function readTrade(r: ByteReader): Trade {
  return {
    ...readTradeRef(r),
    amm: r.text(),
    transaction: r.id(),
    sender: r.id(),
    recipient: r.id(),
    wallet: r.id(),
    targetToken: r.optional(() => r.id()),
    side: readDirection(r),
    sold: readTradeSide(r),
    bought: readTradeSide(r),
    valueUsd: readMoney(r),
    valueNative: readMoney(r),
    liquidityUsd: readMoney(r),
    liquidityNative: readMoney(r),
  }
}

export function writeTradeRef(w: ByteWriter, ref: TradeRef): void {
  writeOrderKey(w, ref.key)
  w.varuint(ref.time)
  w.recurringId(ref.pair)
}

export function readTradeRef(r: ByteReader): TradeRef {
  return { key: readOrderKey(r), time: r.varuint(), pair: r.id() }
}

export function writePair(w: ByteWriter, pair: Pair): void {
  w.recurringId(pair.address)
  w.text(pair.amm)
  writePairSide(w, pair.token0)
  writePairSide(w, pair.token1)
  w.optional(pair.targetToken, (token) => w.recurringId(token))
  w.bool(pair.isMain)
  writeMoney(w, pair.tvlUsd)
  writeMoney(w, pair.tvlNative)
  writeMoney(w, pair.fdvUsd)
  writeTime(w, pair.createdAt)
  w.varuint(pair.updatedAt)
  writeTime(w, pair.firstTradeAt)
  writeTime(w, pair.lastTradeAt)
  writeMoney(w, pair.lastTradePriceUsd)
  writeDirection(w, pair.lastSide)
  writeMoney(w, pair.athPriceUsd)
}

export function readPair(r: ByteReader): Pair {
  return {
    address: r.id(),
    amm: r.text(),
    token0: readPairSide(r),
    token1: readPairSide(r),
    targetToken: r.optional(() => r.id()),
    isMain: r.bool(),
    tvlUsd: readMoney(r),
    tvlNative: readMoney(r),
    fdvUsd: readMoney(r),
    createdAt: readTime(r),
    updatedAt: r.varuint(),
    firstTradeAt: readTime(r),
    lastTradeAt: readTime(r),
    lastTradePriceUsd: readMoney(r),
    lastSide: readDirection(r),
    athPriceUsd: readMoney(r),
  }
}

export function writeToken(w: ByteWriter, token: Token): void {
  w.recurringId(token.address)
  w.text(token.name)
  w.text(token.symbol)
  writeDecimals(w, token.decimals)
  writeMoney(w, token.supplyRaw)
  writeMoney(w, token.priceUsd)
  writeMoney(w, token.priceNative)
  w.optional(token.mainPair, (pair) => w.recurringId(pair))
  writeMoney(w, token.mainPairTvlUsd)
  writeMoney(w, token.tvlUsd)
  writeMoney(w, token.fdvUsd)
  w.varuint(token.updatedAt)
}

export function readToken(r: ByteReader): Token {
  return {
    address: r.id(),
    name: r.text(),
    symbol: r.text(),
    decimals: readDecimals(r),
    supplyRaw: readMoney(r),
    priceUsd: readMoney(r),
    priceNative: readMoney(r),
    mainPair: r.optional(() => r.id()),
    mainPairTvlUsd: readMoney(r),
    tvlUsd: readMoney(r),
    fdvUsd: readMoney(r),
    updatedAt: r.varuint(),
  }
}

function writeTradeSide(w: ByteWriter, side: TradeSide): void {
  w.recurringId(side.token)
  w.text(side.symbol)
  writeDecimals(w, side.decimals)
  w.biguint(side.amountRaw)
  writeMoney(w, side.reserveRaw)
  writeMoney(w, side.priceUsd)
  writeMoney(w, side.priceNative)
}

function readTradeSide(r: ByteReader): TradeSide {
  return {
    token: r.id(),
    symbol: r.text(),
    decimals: readDecimals(r),
    amountRaw: r.biguint(),
    reserveRaw: readMoney(r),
    priceUsd: readMoney(r),
    priceNative: readMoney(r),
  }
}

function writePairSide(w: ByteWriter, side: PairSide): void {
  w.recurringId(side.token)
  w.text(side.symbol)
  writeDecimals(w, side.decimals)
  writeMoney(w, side.reserveRaw)
  writeMoney(w, side.initialReserveRaw)
  writeMoney(w, side.priceUsd)
  writeMoney(w, side.priceNative)
}

function readPairSide(r: ByteReader): PairSide {
  return {
    token: r.id(),
    symbol: r.text(),
    decimals: readDecimals(r),
    reserveRaw: readMoney(r),
    initialReserveRaw: readMoney(r),
    priceUsd: readMoney(r),
    priceNative: readMoney(r),
  }
}

function writeMoney(w: ByteWriter, money: bigint | undefined): void {
  w.bool(money !== undefined)
  if (money !== undefined) w.biguint(money)
}

function readMoney(r: ByteReader): bigint | undefined {
  return r.bool() ? r.biguint() : undefined
}

function writeTime(w: ByteWriter, time: number | undefined): void {
  w.optional(time, (known) => w.varuint(known))
}

function readTime(r: ByteReader): number | undefined {
  return r.optional(() => r.varuint())
}

function writeDecimals(w: ByteWriter, decimals: number | undefined): void {
  w.optional(decimals, (known) => w.u8(known))
}

function readDecimals(r: ByteReader): number | undefined {
  return r.optional(() => r.u8())
}

function writeDirection(w: ByteWriter, direction: TradeDirection | undefined): void {
  w.u8(direction === undefined ? 0 : direction === 'buy' ? 1 : 2)
}

function readDirection(r: ByteReader): TradeDirection | undefined {
  const code = r.u8()
  if (code > 2) throw new ChaintapeError('message_unreadable', `unknown direction ${code}`)
  return code === 0 ? undefined : code === 1 ? 'buy' : 'sell'
}
