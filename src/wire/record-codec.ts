import type { Balance, Pair, PairSide, Token, Trade } from '../domain/change.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { signed } from './codec.ts'
import {
  readDecimals,
  readDirection,
  readEventRef,
  readEventSide,
  readMoney,
  readTime,
  writeDecimals,
  writeDirection,
  writeEventRef,
  writeEventSide,
  writeMoney,
  writeSideNames,
  writeTime,
} from './field-codec.ts'
import { readHoldings, writeHoldings } from './wallet-codec.ts'

/**
 * The encoding of the published records, shared by the CHANGES log and the engine's state. Readers and writers are by
 * hand, because every trade and transfer publishes these records.
 */

/** Precedes records stored outside the log, where no message header gives their layout. */
export const RECORD_VERSION = 8

export function writeTrade(w: ByteWriter, trade: Trade): void {
  writeEventRef(w, trade)
  w.text(trade.amm)
  w.id(trade.transaction)
  w.recurringId(trade.sender)
  w.recurringId(trade.recipient)
  w.id(trade.wallet)
  w.optional(trade.targetToken, (token) => w.recurringId(token))
  writeDirection(w, trade.side)
  writeEventSide(w, trade.sold)
  writeEventSide(w, trade.bought)
  writeMoney(w, trade.valueUsd)
  writeMoney(w, trade.valueNative)
  writeMoney(w, trade.liquidityUsd)
  writeMoney(w, trade.liquidityNative)
  writeHoldings(w, trade.holdings)
}

export function readTrade(r: ByteReader): Trade {
  const trade = readTradeWithoutHoldings(r)
  const holdings = readHoldings(r)
  return holdings === undefined ? trade : { ...trade, holdings }
}

/** The layout up to CHANGES version 7. */
export function readTradeWithoutHoldings(r: ByteReader): Trade {
  return {
    ...readEventRef(r),
    amm: r.text(),
    transaction: r.id(),
    sender: r.recurringId(),
    recipient: r.id(),
    wallet: r.id(),
    targetToken: r.optional(() => r.recurringId()),
    side: readDirection(r),
    sold: readEventSide(r),
    bought: readEventSide(r),
    valueUsd: readMoney(r),
    valueNative: readMoney(r),
    liquidityUsd: readMoney(r),
    liquidityNative: readMoney(r),
  }
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
    address: r.recurringId(),
    amm: r.text(),
    token0: readPairSide(r),
    token1: readPairSide(r),
    targetToken: r.optional(() => r.recurringId()),
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

/** The first fields of a token, which never change. */
export type NamesOfToken = Pick<Token, 'address' | 'name' | 'symbol' | 'decimals'>

export function writeTokenNames(w: ByteWriter, { address, name, symbol, decimals }: NamesOfToken): void {
  w.recurringId(address)
  w.text(name)
  w.text(symbol)
  writeDecimals(w, decimals)
}

export function readTokenNames(r: ByteReader): NamesOfToken {
  return { address: r.recurringId(), name: r.text(), symbol: r.text(), decimals: readDecimals(r) }
}

export function writeToken(w: ByteWriter, token: Token): void {
  writeTokenNames(w, token)
  writeMoney(w, token.supplyRaw)
  writeMoney(w, token.priceUsd)
  writeMoney(w, token.priceNative)
  w.optional(token.mainPair, (pair) => w.recurringId(pair))
  writeMoney(w, token.mainPairTvlUsd)
  writeMoney(w, token.tvlUsd)
  writeMoney(w, token.fdvUsd)
  writeMoney(w, token.marketCapUsd)
  w.optional(token.holding, ({ holders, burnedRaw, lockedRaw, circulatingRaw }) => {
    w.optional(holders, (known) => w.varuint(known))
    w.biguint(burnedRaw)
    w.biguint(lockedRaw)
    writeMoney(w, circulatingRaw)
  })
  w.optional(token.origin, ({ time, creator }) => {
    w.varuint(time)
    w.recurringId(creator)
  })
  w.optional(token.launch, ({ time, priceUsd }) => {
    w.varuint(time)
    writeMoney(w, priceUsd)
  })
  w.optional(token.platform, ({ name, createdAt, progressPpm, graduatedAt }) => {
    w.text(name)
    writeTime(w, createdAt)
    w.optional(progressPpm, (known) => w.varuint(known))
    writeTime(w, graduatedAt)
  })
  w.optional(token.risk, ({ score, isHoneypot, isMintable }) => {
    w.u8(score)
    w.optional(isHoneypot, (known) => w.bool(known))
    w.bool(isMintable)
  })
  w.varuint(token.updatedAt)
}

export function readToken(r: ByteReader): Token {
  return {
    ...readTokenNames(r),
    supplyRaw: readMoney(r),
    priceUsd: readMoney(r),
    priceNative: readMoney(r),
    mainPair: r.optional(() => r.recurringId()),
    mainPairTvlUsd: readMoney(r),
    tvlUsd: readMoney(r),
    fdvUsd: readMoney(r),
    marketCapUsd: readMoney(r),
    holding: r.optional(() => ({
      holders: r.optional(() => r.varuint()),
      burnedRaw: r.biguint(),
      lockedRaw: r.biguint(),
      circulatingRaw: readMoney(r),
    })),
    origin: r.optional(() => ({ time: r.varuint(), creator: r.id() })),
    launch: r.optional(() => ({ time: r.varuint(), priceUsd: readMoney(r) })),
    platform: r.optional(() => ({
      name: r.text(),
      createdAt: readTime(r),
      progressPpm: r.optional(() => r.varuint()),
      graduatedAt: readTime(r),
    })),
    risk: r.optional(() => ({
      score: r.u8(),
      isHoneypot: r.optional(() => r.bool()),
      isMintable: r.bool(),
    })),
    updatedAt: r.varuint(),
  }
}

export function writeBalance(w: ByteWriter, { token, holder, amountRaw, beforeRaw }: Balance): void {
  w.recurringId(token)
  w.id(holder)
  signed.write(w, amountRaw)
  signed.write(w, beforeRaw)
}

export function readBalance(r: ByteReader): Balance {
  return { token: r.recurringId(), holder: r.id(), amountRaw: signed.read(r), beforeRaw: signed.read(r) }
}

function writePairSide(w: ByteWriter, side: PairSide): void {
  writeSideNames(w, side)
  writeMoney(w, side.reserveRaw)
  writeMoney(w, side.initialReserveRaw)
  writeMoney(w, side.priceUsd)
  writeMoney(w, side.priceNative)
}

function readPairSide(r: ByteReader): PairSide {
  return {
    token: r.recurringId(),
    symbol: r.text(),
    decimals: readDecimals(r),
    reserveRaw: readMoney(r),
    initialReserveRaw: readMoney(r),
    priceUsd: readMoney(r),
    priceNative: readMoney(r),
  }
}
