import type { Coin, PoolSpec } from './actions.ts'

/** What a pool holds, in whole coins. A plan needs no last digit: the chain computes amounts by itself. */
export type ModelPool = {
  readonly spec: PoolSpec
  base: number
  quote: number
  /** What its quote side was worth when it was opened. */
  readonly depthUsd: number
  isOpen: boolean
}

/** Terms of the launchpad (SandboxLaunchpad.sol): a third of both sides exists only in the formula. */
export const CURVE_SUPPLY = 1_000_000_000
export const CURVE_FOR_SALE = 800_000_000
export const CURVE_GOAL_ETHER = 24

/** Whole quote coins for one base coin. */
export function priceOf({ spec, base, quote }: ModelPool): number {
  if (spec.venue !== 'curve') return quote / base
  return (quote + CURVE_GOAL_ETHER / 3) / (base + CURVE_FOR_SALE / 3)
}

/** Sells a coin to the pool and returns what the seller gets. */
export function swap(pool: ModelPool, sold: Coin, amount: number): number {
  const { venue, fee, base: baseCoin } = pool.spec
  const isBaseSold = sold === baseCoin
  if (venue === 'curve') return swapOnCurve(pool, isBaseSold, amount)
  const [reserveIn, reserveOut] = isBaseSold ? [pool.base, pool.quote] : [pool.quote, pool.base]
  const effective = amount * (1 - fee / 1e6)
  const out = (effective * reserveOut) / (reserveIn + effective)
  // Fees of V2 stay in the reserves; those of V3 and V4 belong to the positions.
  const kept = venue === 'v2' ? amount : effective
  if (isBaseSold) {
    pool.base += kept
    pool.quote -= out
  } else {
    pool.quote += kept
    pool.base -= out
  }
  return out
}

/** Amount of a coin to sell until the pool has this price. */
export function amountUntil(
  pool: ModelPool,
  price: number,
): { readonly sold: Coin; readonly amount: number } {
  const { base, quote, spec } = pool
  const product = base * quote
  return price > priceOf(pool)
    ? { sold: spec.quote, amount: Math.sqrt(product * price) - quote }
    : { sold: spec.base, amount: Math.sqrt(product / price) - base }
}

function swapOnCurve(pool: ModelPool, isBaseSold: boolean, amount: number): number {
  const [tokens, ether] = [pool.base + CURVE_FOR_SALE / 3, pool.quote + CURVE_GOAL_ETHER / 3]
  if (isBaseSold) {
    const cost = (amount * ether) / (tokens + amount)
    pool.base += amount
    pool.quote -= cost
    return cost * 0.99
  }
  const out = Math.min((amount * tokens) / (ether + amount), pool.base)
  pool.base -= out
  pool.quote += amount
  return out
}
