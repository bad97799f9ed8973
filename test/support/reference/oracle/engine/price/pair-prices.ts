import type { Pair, PairSide } from '../../../../../../src/domain/change.ts'
import { sumOfValues } from '../../../../../../src/domain/limits.ts'
import {
  convertPrice,
  ONE_PRICE,
  type Price,
  priceOf,
  type Value,
  valueOfAmount,
} from '../../../../../../src/domain/money.ts'
import type { Ratio } from '../pool/ratio.ts'
import { type ReferencePrices, UNKNOWN_WORTH, type Worth } from './reference-prices.ts'

/** A pair seen from its target token. */
export type Oriented = { readonly target: PairSide; readonly quote: PairSide }

export function orient(pair: Pair): Oriented | undefined {
  if (pair.targetToken === undefined) return undefined
  return pair.targetToken === pair.token0.token
    ? { target: pair.token0, quote: pair.token1 }
    : { target: pair.token1, quote: pair.token0 }
}

/** What one whole target token is worth, and how many of the quote asset it costs. */
export type TargetWorth = Worth & { readonly inQuote: Price | undefined }

export const UNKNOWN_TARGET_WORTH: TargetWorth = { ...UNKNOWN_WORTH, inQuote: undefined }

/** What one whole target token is worth when `targetRaw` of it goes for `quoteRaw` of the quote asset. */
export function targetWorth(
  { target, quote }: Oriented,
  targetRaw: bigint,
  quoteRaw: bigint,
  quoteWorth: Worth,
  reference: ReferencePrices,
): TargetWorth {
  if (target.decimals === undefined || quote.decimals === undefined) return UNKNOWN_TARGET_WORTH
  const inQuote = priceOf(targetRaw, target.decimals, quoteRaw, quote.decimals)
  return {
    usd: convertPrice(inQuote, quoteWorth.usd),
    // The native coin is worth exactly one of itself, whatever two roundings would make of it.
    native: reference.isNative(target.token) ? ONE_PRICE : convertPrice(inQuote, quoteWorth.native),
    inQuote,
  }
}

/** What one whole target token is worth at this price of its pool. */
export function poolWorth(pair: Pair, ratio: Ratio | undefined, reference: ReferencePrices): Worth {
  const oriented = orient(pair)
  if (oriented === undefined || ratio === undefined) return UNKNOWN_WORTH
  const quoteWorth = reference.worthOf(oriented.quote.token)
  return oriented.target === pair.token0
    ? targetWorth(oriented, ratio.raw0, ratio.raw1, quoteWorth, reference)
    : targetWorth(oriented, ratio.raw1, ratio.raw0, quoteWorth, reference)
}

/** The pair with both sides' pool prices, TVL and FDV brought up to its reserves and its pool's price. */
export function repriced(
  pair: Pair,
  ratio: Ratio | undefined,
  supplyRaw: bigint | undefined,
  reference: ReferencePrices,
): Pair {
  const oriented = orient(pair)
  if (oriented === undefined) return pair
  const { target, quote } = oriented
  const quoteWorth = reference.worthOf(quote.token)
  const worth = poolWorth(pair, ratio, reference)
  const priced = (side: PairSide): PairSide => {
    const { usd, native } = side === target ? worth : quoteWorth
    return { ...side, priceUsd: usd, priceNative: native }
  }
  return {
    ...pair,
    token0: priced(pair.token0),
    token1: priced(pair.token1),
    tvlUsd: sumOfValues(sideValue(target, worth.usd), sideValue(quote, quoteWorth.usd)),
    tvlNative: sumOfValues(sideValue(target, worth.native), sideValue(quote, quoteWorth.native)),
    fdvUsd: supplyRaw === undefined ? undefined : amountValue(supplyRaw, target.decimals, worth.usd),
  }
}

export function amountValue(
  amountRaw: bigint | undefined,
  decimals: number | undefined,
  price: Price | undefined,
): Value | undefined {
  if (amountRaw === undefined || decimals === undefined) return undefined
  return valueOfAmount(amountRaw, decimals, price)
}

function sideValue(side: PairSide, price: Price | undefined): Value | undefined {
  return amountValue(side.reserveRaw, side.decimals, price)
}
