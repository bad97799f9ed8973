import type { Price, Value } from '../../../../../../src/domain/money.ts'
import type { Ratio } from '../pool/ratio.ts'

/** So much of the first for so much of the second: which is dearer? */
export function compareRatios(a: Ratio, b: Ratio): number {
  const [left, right] = [a.raw1 * b.raw0, b.raw1 * a.raw0]
  return left < right ? -1 : left > right ? 1 : 0
}

/**
 * The middle of what a pool asked in the course of a block, what it asked before the block included: one that goes up
 * and comes back down leaves no trace. Of two in the middle, the one nearer to where the block ended.
 */
export function medianRatio(samples: readonly Ratio[], last: Ratio): Ratio {
  const sorted = samples.toSorted(compareRatios)
  const upper = sorted[sorted.length >> 1] ?? last
  if (sorted.length % 2 === 1) return upper
  const lower = sorted[(sorted.length >> 1) - 1] ?? last
  return compareRatios(last, lower) <= 0 ? lower : upper
}

export type Weighted = { readonly price: Price; readonly weight: Value }

/** The price at which half of the weight lies at or below: a pool moves it only by outweighing all the others. */
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
