import type { PoolPrice } from '../events.ts'
import {
  isTick,
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  sqrtPriceAtTick,
} from '../evm/concentrated-liquidity.ts'

/** Price from a square root in 64.64 fixed point, exactly: the engine's form has 32 more fraction bits. */
export function sqrtX64Price(sqrtPriceX64: bigint, tick?: number): PoolPrice | undefined {
  return sqrtPrice(sqrtPriceX64 << 32n, tick)
}

/**
 * Price of the first token in units of the second, from the reserves that a constant product rule uses. The square root
 * is rounded down; of 64-bit reserves it has at least 64 significant bits.
 */
export function ratioPrice(reserve0: bigint, reserve1: bigint): PoolPrice | undefined {
  if (reserve0 <= 0n || reserve1 <= 0n) return undefined
  return sqrtPrice(squareRoot((reserve1 << 192n) / reserve0))
}

function sqrtPrice(sqrtPriceX96: bigint, reportedTick?: number): PoolPrice | undefined {
  if (sqrtPriceX96 < MIN_SQRT_PRICE || sqrtPriceX96 >= MAX_SQRT_PRICE) return undefined
  const tick = reportedTick ?? tickAt(sqrtPriceX96)
  return isTick(tick) ? { kind: 'sqrt', sqrtPriceX96, tick } : undefined
}

/** The highest tick whose price is not above this one. */
function tickAt(sqrtPriceX96: bigint): number {
  let low = MIN_TICK
  let high = MAX_TICK
  while (low < high) {
    const middle = low + ((high - low + 1) >> 1)
    if (sqrtPriceAtTick(middle) <= sqrtPriceX96) low = middle
    else high = middle - 1
  }
  return low
}

/** The largest integer whose square is not above the value. */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value
  // Newton's method falls from any start above the root until it reaches it.
  let root = 1n << BigInt(value.toString(16).length * 2)
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
