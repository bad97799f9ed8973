/** The whole range of a pool: ticks, and the roots of their prices, by the spacing of ticks. */
export const WHOLE_RANGE_TICK: Readonly<Record<number, number>> = { 10: 887_270, 60: 887_220, 200: 887_200 }
export const SPACING_OF_FEE: Readonly<Record<number, number>> = { 500: 10, 3000: 60, 10000: 200 }

/** Roots of the prices at ticks -887,220 and 887,220, as TickMath computes them. */
const LOWEST_ROOT = 4_306_310_044n
const HIGHEST_ROOT = 1_457_652_066_949_847_389_969_617_340_386_294_118_487_833_376_468n
const Q96 = 2n ** 96n

/** Root of the price at which these amounts are worth the same, with 96 binary digits. */
export function rootOfPrice(raw0: bigint, raw1: bigint): bigint {
  return squareRoot((raw1 << 192n) / raw0)
}

/** Liquidity over the whole range of a V4 pool that takes no more than these amounts. */
export function wholeRangeLiquidity(root: bigint, raw0: bigint, raw1: bigint): bigint {
  const by0 = (raw0 * ((root * HIGHEST_ROOT) / Q96)) / (HIGHEST_ROOT - root)
  const by1 = (raw1 * Q96) / (root - LOWEST_ROOT)
  const isLess = by0 < by1
  return isLess ? by0 : by1
}

/** What that liquidity takes of the first currency, as the pool manager rounds it: native coins are paid exactly. */
export function firstAmount(root: bigint, liquidity: bigint): bigint {
  return upTo(upTo(liquidity * Q96 * (HIGHEST_ROOT - root), HIGHEST_ROOT), root)
}

function upTo(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (root + value / root) / 2n
    if (next >= root) return root
    root = next
  }
}
