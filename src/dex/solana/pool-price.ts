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

/** Ticks by which the square root of the price doubles, in thousandths. */
const TICKS_PER_DOUBLING = 13_863_637
const FRACTION_BITS = 20
/** Squares of numbers below twice this are exact. */
const ONE = 2 ** 25

/** The highest tick whose price is not above this one. */
function tickAt(sqrtPriceX96: bigint): number {
  const estimate = Math.floor((logarithm(sqrtPriceX96) * TICKS_PER_DOUBLING) / (1_000 * 2 ** FRACTION_BITS))
  let tick = Math.min(MAX_TICK, Math.max(MIN_TICK, estimate))
  // The estimate is off by one where rounding decides.
  while (tick < MAX_TICK && sqrtPriceAtTick(tick + 1) <= sqrtPriceX96) tick++
  while (tick > MIN_TICK && sqrtPriceAtTick(tick) > sqrtPriceX96) tick--
  return tick
}

/** Binary logarithm of a 64.96 number with 20 fraction bits: each squaring yields the next bit. */
function logarithm(value: bigint): number {
  let shift = value.toString(16).length * 4 - 28
  let mantissa = Number(value >> BigInt(shift))
  for (; mantissa >= 2 * ONE; shift++) mantissa = Math.floor(mantissa / 2)
  for (; mantissa < ONE; shift--) mantissa *= 2
  let log = shift + 25 - 96
  for (let bit = 0; bit < FRACTION_BITS; bit++) {
    mantissa = Math.floor((mantissa * mantissa) / ONE)
    log *= 2
    if (mantissa < 2 * ONE) continue
    mantissa = Math.floor(mantissa / 2)
    log++
  }
  return log
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
