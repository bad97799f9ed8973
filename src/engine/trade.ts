import type { Swapped } from '../dex/events.ts'
import type { TradeDirection, TradeHoldings } from '../domain/change.ts'
import { isAmount } from '../domain/limits.ts'
import { ONE_PRICE, type Price, type Value } from '../domain/money.ts'
import type { OrderKey } from '../domain/order-key.ts'
import type { WalletHolding } from '../domain/wallet-balances.ts'
import type { ByteWriter } from '../wire/byte-writer.ts'
import { writeDirection, writeMoney, writeOrderKey } from '../wire/field-codec.ts'
import type { OpenedTransaction } from '../wire/opened-transaction.ts'
import { writeHoldings } from '../wire/wallet-codec.ts'
import type { PairView, SideView } from './pair/pair-view.ts'
import { writeNumber } from './pair/write-pair.ts'
import { amountValue, type TargetWorth, targetWorth, UNKNOWN_TARGET_WORTH } from './price/pair-prices.ts'
import type { ReferencePrices } from './price/reference-prices.ts'
import { UNKNOWN_WORTH, type Worth } from './price/worth.ts'

/** Amounts exchanged between the two tokens of a pair. */
export type Exchange = { readonly amount0: bigint; readonly amount1: bigint; readonly isToken0Sold: boolean }

/**
 * A flash swap repaid in the same token exchanges nothing, so it is no trade. Neither is an event with an impossible
 * amount.
 */
export function exchangeOf(delta0: bigint, delta1: bigint): Exchange | undefined {
  if (!isAmount(delta0 < 0n ? -delta0 : delta0) || !isAmount(delta1 < 0n ? -delta1 : delta1)) return undefined
  if (delta0 > 0n && delta1 < 0n) return { amount0: delta0, amount1: -delta1, isToken0Sold: true }
  if (delta1 > 0n && delta0 < 0n) return { amount0: -delta0, amount1: delta1, isToken0Sold: false }
  return undefined
}

/** The position of an event in the chain. */
export type Origin = {
  readonly key: OrderKey
  readonly time: number
  readonly transaction: OpenedTransaction
}

/** One side of a trade: the amount of a token, and its price in the trade. */
export type TradedSide = {
  readonly token: string
  readonly amountRaw: bigint
  readonly priceUsd: Price | undefined
  readonly priceNative: Price | undefined
}

/** A trade, without the fields of its pair. */
export type FoldedTrade = {
  readonly side: TradeDirection | undefined
  readonly isToken0Sold: boolean
  readonly sold: TradedSide
  readonly bought: TradedSide
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
  /** The price of one whole target token, and the total paid in the quote asset. */
  readonly paid: TargetWorth
  readonly quoteValue: Value | undefined
}

/** `pair` is its state after the swap. */
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

/** Writes the bytes of `writeTrade`; the fields of the pair are copied in wire encoding. */
export function writeFoldedTrade(
  w: ByteWriter,
  { key, time, transaction }: Origin,
  { sender, recipient }: Swapped,
  pair: PairView,
  trade: FoldedTrade,
  holdings: TradeHoldings | undefined,
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
  writeHoldings(w, holdings)
}

/** Undefined if nothing about the traded tokens or the native coin is known. */
export function holdingsOf(
  { isToken0Sold, sold, bought }: FoldedTrade,
  held: (token: string) => WalletHolding | undefined,
  nativeRaw?: bigint,
): TradeHoldings | undefined {
  const [soldHeld, boughtHeld] = [held(sold.token), held(bought.token)]
  if (nativeRaw === undefined && soldHeld === undefined && boughtHeld === undefined) return undefined
  return { isToken0Sold, nativeRaw, sold: soldHeld, bought: boughtHeld }
}

function writeSide(w: ByteWriter, { onWire, row }: SideView, side: TradedSide): void {
  w.piece(onWire)
  w.biguint(side.amountRaw)
  writeNumber(w, row.hasReserveRaw, row.words, row.reserveRawAt)
  writeMoney(w, side.priceUsd)
  writeMoney(w, side.priceNative)
}
