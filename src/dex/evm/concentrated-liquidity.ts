/**
 * Reproduces the arithmetic of Uniswap V3, V4 and their forks bit by bit, because no event reports the token amounts of
 * a price range.
 */

export const MAX_TICK = 887_272
export const MIN_TICK = -MAX_TICK
/** Square root prices at the outermost ticks; a pool's own price is at least the first and below the second. */
export const MIN_SQRT_PRICE = 4_295_128_739n
export const MAX_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n

/** 2^128 / sqrt(1.0001)^(2^i), with the rounding of the contracts. */
const ROOTS = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
]
const MAX_UINT_256 = (1n << 256n) - 1n

export function isTick(tick: number | undefined): tick is number {
  return tick !== undefined && Number.isInteger(tick) && tick >= MIN_TICK && tick <= MAX_TICK
}

/** sqrt(1.0001^tick) * 2^96, with the rounding of the contracts: up at the last bit, including their small error. */
export function sqrtPriceAtTick(tick: number): bigint {
  if (!isTick(tick)) throw new RangeError(`not a tick: ${tick}`)
  const distance = Math.abs(tick)
  let root = 1n << 128n
  for (const [bit, factor] of ROOTS.entries()) {
    if ((distance >> bit) % 2 === 1) root = (root * factor) >> 128n
  }
  if (tick > 0) root = MAX_UINT_256 / root
  return divideUp(root, 1n << 32n)
}

/** Reserves of a pool without ranges that has this price and depth. */
export function virtualReserves(liquidity: bigint, sqrtPriceX96: bigint): readonly [bigint, bigint] {
  return [(liquidity << 96n) / sqrtPriceX96, (liquidity * sqrtPriceX96) >> 96n]
}

/**
 * Token amounts of a price range's liquidity at the pool's price and tick. Added liquidity is positive, removed is
 * negative; the pool rounds both in its own favor.
 */
export function amountsOfLiquidity(
  liquidityDelta: bigint,
  sqrtPriceX96: bigint,
  tick: number,
  tickLower: number,
  tickUpper: number,
): { readonly amount0: bigint; readonly amount1: bigint } {
  const lower = sqrtPriceAtTick(tickLower)
  const upper = sqrtPriceAtTick(tickUpper)
  if (tick < tickLower) return { amount0: amount0Between(lower, upper, liquidityDelta), amount1: 0n }
  if (tick >= tickUpper) return { amount0: 0n, amount1: amount1Between(lower, upper, liquidityDelta) }
  return {
    amount0: amount0Between(sqrtPriceX96, upper, liquidityDelta),
    amount1: amount1Between(lower, sqrtPriceX96, liquidityDelta),
  }
}

/** The contracts round after each of the two divisions. */
function amount0Between(low: bigint, high: bigint, liquidity: bigint): bigint {
  const scaled = (magnitude(liquidity) << 96n) * (high - low)
  return liquidity < 0n ? -(scaled / high / low) : divideUp(divideUp(scaled, high), low)
}

function amount1Between(low: bigint, high: bigint, liquidity: bigint): bigint {
  const scaled = magnitude(liquidity) * (high - low)
  return liquidity < 0n ? -(scaled >> 96n) : divideUp(scaled, 1n << 96n)
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor
}
