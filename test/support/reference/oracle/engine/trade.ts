import type { Swapped } from '../../../../../src/dex/events.ts'
import type { EventSide, Pair, PairSide, Trade } from '../../../../../src/domain/change.ts'
import { isAmount } from '../../../../../src/domain/limits.ts'
import { ONE_PRICE, type Value } from '../../../../../src/domain/money.ts'
import type { OrderKey } from '../../../../../src/domain/order-key.ts'
import {
  amountValue,
  orient,
  type TargetWorth,
  targetWorth,
  UNKNOWN_TARGET_WORTH,
} from './price/pair-prices.ts'
import { type ReferencePrices, UNKNOWN_WORTH } from './price/reference-prices.ts'

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

export type TradeOrigin = {
  readonly key: OrderKey
  readonly time: number
  readonly transaction: string
  readonly wallet: string
  readonly swap: Pick<Swapped, 'sender' | 'recipient'>
}

/** What one whole target token was paid with, and how much of the quote asset was paid in all. */
type Paid = TargetWorth & { readonly quoteValue: Value | undefined }

/** The trade, and what was paid in it; `pair` is as it is after the swap. */
export function toTrade(
  pair: Pair,
  { amount0, amount1, isToken0Sold }: Exchange,
  { key, time, transaction, wallet, swap }: TradeOrigin,
  reference: ReferencePrices,
): { trade: Trade; paid: Paid } {
  const oriented = orient(pair)
  const isTarget0 = pair.targetToken === pair.token0.token
  const targetRaw = isTarget0 ? amount0 : amount1
  const quoteRaw = isTarget0 ? amount1 : amount0
  const quoteWorth = oriented === undefined ? UNKNOWN_WORTH : reference.worthOf(oriented.quote.token)
  const paid =
    oriented === undefined
      ? UNKNOWN_TARGET_WORTH
      : targetWorth(oriented, targetRaw, quoteRaw, quoteWorth, reference)
  const tradeSide = (side: PairSide, amountRaw: bigint): EventSide => {
    const worth = side.token === pair.targetToken ? paid : quoteWorth
    const { token, symbol, decimals, reserveRaw } = side
    return { token, symbol, decimals, amountRaw, reserveRaw, priceUsd: worth.usd, priceNative: worth.native }
  }
  const side0 = tradeSide(pair.token0, amount0)
  const side1 = tradeSide(pair.token1, amount1)
  const trade: Trade = {
    key,
    time,
    pair: pair.address,
    amm: pair.amm,
    transaction,
    sender: swap.sender ?? '',
    recipient: swap.recipient ?? '',
    wallet,
    targetToken: pair.targetToken,
    side: oriented === undefined ? undefined : isToken0Sold === isTarget0 ? 'sell' : 'buy',
    sold: isToken0Sold ? side0 : side1,
    bought: isToken0Sold ? side1 : side0,
    valueUsd: amountValue(quoteRaw, oriented?.quote.decimals, quoteWorth.usd),
    valueNative:
      oriented !== undefined && reference.isNative(oriented.target.token)
        ? amountValue(targetRaw, oriented.target.decimals, ONE_PRICE)
        : amountValue(quoteRaw, oriented?.quote.decimals, quoteWorth.native),
    liquidityUsd: pair.tvlUsd,
    liquidityNative: pair.tvlNative,
  }
  return { trade, paid: { ...paid, quoteValue: amountValue(quoteRaw, oriented?.quote.decimals, ONE_PRICE) } }
}
