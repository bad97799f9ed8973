import type { Price, Value } from '../../domain/money.ts'
import type { Ratio } from '../pool/pool.ts'

/** Compares two prices of the same pair. */
export function compareRatios(a: Ratio, b: Ratio): number {
  // Fast path: ratios of concentrated pools have the same first number.
  if (a.raw0 === b.raw0) return a.raw1 < b.raw1 ? -1 : a.raw1 > b.raw1 ? 1 : 0
  const [left, right] = [a.raw1 * b.raw0, b.raw1 * a.raw0]
  return left < right ? -1 : left > right ? 1 : 0
}

/**
 * The median of a pool's prices during a block, including the price before it, so that a price that goes up and comes
 * back leaves no trace. Of two medians, the one nearer to the last price.
 */
export function medianRatio(samples: readonly Ratio[], last: Ratio): Ratio {
  const [first, second] = samples
  // Fast path: a single event in the block.
  if (samples.length === 2 && first !== undefined && second === last)
    return compareRatios(first, last) === 0 ? first : last
  const sorted = samples.toSorted(compareRatios)
  const upper = sorted[sorted.length >> 1] ?? last
  if (sorted.length % 2 === 1) return upper
  const lower = sorted[(sorted.length >> 1) - 1] ?? last
  return compareRatios(last, lower) <= 0 ? lower : upper
}

export type Weighted = { readonly price: Price; readonly weight: Value }

/** The price at which half of the weight is at or below: one pool moves it only if it outweighs all others. */
export function weightedMedian(all: readonly Weighted[]): Price | undefined {
  const sorted = all.toSorted((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0))
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0n)
  let below = 0n
  for (const { price, weight } of sorted) {
    below += weight
    if (below * 2n >= total) return price
  }
  return undefined
}
