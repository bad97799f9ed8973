import type { Swapped } from '../dex/events.ts'
import type { TradeDirection } from '../domain/change.ts'
import { isAmount } from '../domain/limits.ts'
import { ONE_PRICE, type Price, type Value } from '../domain/money.ts'
import type { OrderKey } from '../domain/order-key.ts'
import type { ByteWriter } from '../wire/byte-writer.ts'
import { writeDirection, writeMoney, writeOrderKey } from '../wire/field-codec.ts'
import type { OpenedTransaction } from '../wire/opened-transaction.ts'
import type { PairView, SideView } from './pair/pair-view.ts'
import { writeNumber } from './pair/write-pair.ts'
import { amountValue, type TargetWorth, targetWorth, UNKNOWN_TARGET_WORTH } from './price/pair-prices.ts'
import { type ReferencePrices, UNKNOWN_WORTH, type Worth } from './price/reference-prices.ts'

/** What was exchanged between the two tokens of a pair. */
export type Exchange = { readonly amount0: bigint; readonly amount1: bigint; readonly isToken0Sold: boolean }

/**
 * A flash swap paid back in kind exchanges nothing: no one bought, no one sold. Nor does an event that claims more than a
 * token can move.
 */
export function exchangeOf(delta0: bigint, delta1: bigint): Exchange | undefined {
  if (!isAmount(delta0 < 0n ? -delta0 : delta0) || !isAmount(delta1 < 0n ? -delta1 : delta1)) return undefined
  if (delta0 > 0n && delta1 < 0n) return { amount0: delta0, amount1: -delta1, isToken0Sold: true }
  if (delta1 > 0n && delta0 < 0n) return { amount0: -delta0, amount1: delta1, isToken0Sold: false }
  return undefined
}

/** Where in the chain an event stands. */
export type Origin = {
  readonly key: OrderKey
  readonly time: number
  readonly transaction: OpenedTransaction
}

/** One side of a trade: how much of a token, and what one of it was worth in the trade. */
export type TradedSide = {
  readonly token: string
  readonly amountRaw: bigint
  readonly priceUsd: Price | undefined
  readonly priceNative: Price | undefined
}

/** A trade, without what its pair says as well. */
export type FoldedTrade = {
  readonly side: TradeDirection | undefined
  readonly isToken0Sold: boolean
  readonly sold: TradedSide
  readonly bought: TradedSide
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
  /** What one whole target token was paid with, and how much of the quote asset was paid in all. */
  readonly paid: TargetWorth
  readonly quoteValue: Value | undefined
}

/** `pair` is as it is after the swap. */
export function toTrade(
  pair: PairView,
  { amount0, amount1, isToken0Sold }: Exchange,
  reference: ReferencePrices,
): FoldedTrade {
  const { oriented } = pair
  const isTarget0 = oriented?.target === pair.token0
  const targetRaw = isTarget0 ? amount0 : amount1
  const quoteRaw = isTarget0 ? amount1 : amount0
  const quoteWorth = oriented === undefined ? UNKNOWN_WORTH : reference.worthOf(oriented.quote.token)
  const paid =
    oriented === undefined
      ? UNKNOWN_TARGET_WORTH
      : targetWorth(oriented, targetRaw, quoteRaw, quoteWorth, reference)
  const side0 = tradedSide(pair.token0.token, amount0, isTarget0 ? paid : quoteWorth)
  const side1 = tradedSide(pair.token1.token, amount1, isTarget0 ? quoteWorth : paid)
  return {
    side: oriented === undefined ? undefined : isToken0Sold === isTarget0 ? 'sell' : 'buy',
    isToken0Sold,
    sold: isToken0Sold ? side0 : side1,
    bought: isToken0Sold ? side1 : side0,
    valueUsd: amountValue(quoteRaw, oriented?.quote.decimals, quoteWorth.usd),
    valueNative:
      oriented !== undefined && reference.isNative(oriented.target.token)
        ? amountValue(targetRaw, oriented.target.decimals, ONE_PRICE)
        : amountValue(quoteRaw, oriented?.quote.decimals, quoteWorth.native),
    paid,
    quoteValue: amountValue(quoteRaw, oriented?.quote.decimals, ONE_PRICE),
  }
}

function tradedSide(token: string, amountRaw: bigint, { usd, native }: Worth): TradedSide {
  return { token, amountRaw, priceUsd: usd, priceNative: native }
}

/** As `writeTrade` writes the same trade, but what its pair says is copied as it stands there. */
export function writeFoldedTrade(
  w: ByteWriter,
  { key, time, transaction }: Origin,
  { sender, recipient }: Swapped,
  pair: PairView,
  trade: FoldedTrade,
): void {
  const { row, names, token0, token1 } = pair
  writeOrderKey(w, key)
  w.varuint(time)
  w.piece(names.idOnWire)
  w.piece(names.ammOnWire)
  transaction.writeHash(w)
  w.recurringId(sender ?? '')
  w.recurringId(recipient ?? '')
  transaction.writeFrom(w)
  w.piece(names.targetOnWire)
  writeDirection(w, trade.side)
  writeSide(w, trade.isToken0Sold ? token0 : token1, trade.sold)
  writeSide(w, trade.isToken0Sold ? token1 : token0, trade.bought)
  writeMoney(w, trade.valueUsd)
  writeMoney(w, trade.valueNative)
  writeNumber(w, row.hasTvlUsd, row.words, row.tvlUsdAt)
  writeNumber(w, row.hasTvlNative, row.words, row.tvlNativeAt)
}

function writeSide(w: ByteWriter, { onWire, row }: SideView, side: TradedSide): void {
  w.piece(onWire)
  w.biguint(side.amountRaw)
  writeNumber(w, row.hasReserveRaw, row.words, row.reserveRawAt)
  writeMoney(w, side.priceUsd)
  writeMoney(w, side.priceNative)
}
