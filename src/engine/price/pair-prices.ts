import type { PairSide } from '../../domain/change.ts'
import { sumOfValues } from '../../domain/limits.ts'
import {
  convertPrice,
  ONE_PRICE,
  type Price,
  priceOf,
  type Value,
  valueOfAmount,
} from '../../domain/money.ts'
import type { Oriented } from '../pair/oriented.ts'
import type { PairView, SideView } from '../pair/pair-view.ts'
import type { Ratio } from '../pool/pool.ts'
import type { ReferencePrices } from './reference-prices.ts'
import { UNKNOWN_WORTH, type Worth } from './worth.ts'

/** The value of one whole target token, and its price in the quote asset. */
export type TargetWorth = Worth & { readonly inQuote: Price | undefined }

export const UNKNOWN_TARGET_WORTH: TargetWorth = { ...UNKNOWN_WORTH, inQuote: undefined }

/** The value of one whole target token if `targetRaw` of it costs `quoteRaw` of the quote asset. */
export function targetWorth(
  { target, quote }: Oriented,
  targetRaw: bigint,
  quoteRaw: bigint,
  quoteWorth: Worth,
  reference: ReferencePrices,
): TargetWorth {
  if (target.decimals === undefined || quote.decimals === undefined) return UNKNOWN_TARGET_WORTH
  const inQuote = priceOf(targetRaw, target.decimals, quoteRaw, quote.decimals)
  return worthInQuote(target, inQuote, quoteWorth, reference)
}

function worthInQuote(
  target: PairSide,
  inQuote: Price | undefined,
  quoteWorth: Worth,
  reference: ReferencePrices,
): TargetWorth {
  return {
    usd: convertPrice(inQuote, quoteWorth.usd),
    // The native coin is worth exactly one native coin, without rounding errors.
    native: reference.isNative(target.token) ? ONE_PRICE : convertPrice(inQuote, quoteWorth.native),
    inQuote,
  }
}

/** The value of one whole target token at this pool price. */
export function poolWorth(pair: PairView, ratio: Ratio | undefined, reference: ReferencePrices): Worth {
  const { oriented } = pair
  if (oriented === undefined || ratio === undefined) return UNKNOWN_WORTH
  return worthAt(pair, oriented, ratio, reference.worthOf(oriented.quote.token), reference)
}

/** Most ratios are priced twice: with the block's reference prices, and with those of its end. */
function worthAt(
  pair: PairView,
  { target, quote }: Oriented,
  ratio: Ratio,
  quoteWorth: Worth,
  reference: ReferencePrices,
): Worth {
  if (target.decimals === undefined || quote.decimals === undefined) return UNKNOWN_WORTH
  if (pair.priced?.ratio !== ratio) {
    const [targetRaw, quoteRaw] = target === pair.token0 ? [ratio.raw0, ratio.raw1] : [ratio.raw1, ratio.raw0]
    pair.priced = { ratio, inQuote: priceOf(targetRaw, target.decimals, quoteRaw, quote.decimals) }
  }
  return worthInQuote(target, pair.priced.inQuote, quoteWorth, reference)
}

/** Updates prices, TVL and FDV of both sides from the pair's reserves and pool price. */
export function reprice(
  pair: PairView,
  ratio: Ratio | undefined,
  supplyRaw: bigint | undefined,
  reference: ReferencePrices,
): void {
  const { oriented } = pair
  if (oriented === undefined) return
  const { target, quote } = oriented
  const quoteWorth = reference.worthOf(quote.token)
  const worth = ratio === undefined ? UNKNOWN_WORTH : worthAt(pair, oriented, ratio, quoteWorth, reference)
  setPrices(target, worth)
  setPrices(quote, quoteWorth)
  const quoteUsd = sideValue(quote, quoteWorth.usd)
  const tvlUsd = sumOfValues(sideValue(target, worth.usd), quoteUsd)
  const tvlNative = sumOfValues(sideValue(target, worth.native), sideValue(quote, quoteWorth.native))
  pair.setTvl(tvlUsd, tvlNative, quoteUsd)
  pair.fdvUsd = supplyRaw === undefined ? undefined : amountValue(supplyRaw, target.decimals, worth.usd)
}

export function amountValue(
  amountRaw: bigint | undefined,
  decimals: number | undefined,
  price: Price | undefined,
): Value | undefined {
  if (amountRaw === undefined || decimals === undefined) return undefined
  return valueOfAmount(amountRaw, decimals, price)
}

function setPrices(side: SideView, { usd, native }: Worth): void {
  side.priceUsd = usd
  side.priceNative = native
}

function sideValue(side: PairSide, price: Price | undefined): Value | undefined {
  return amountValue(side.reserveRaw, side.decimals, price)
}
