import type { PoolPrice, TokenAmount } from '../events.ts'
import { smallIntAt, uintAt } from './abi.ts'
import { isTick, MAX_SQRT_PRICE, MIN_SQRT_PRICE } from './concentrated-liquidity.ts'

/** Amounts of a pool's two tokens. */
export function bothAmounts(amount0: bigint, amount1: bigint): TokenAmount[] {
  return [
    { token: 0, amount: amount0 },
    { token: 1, amount: amount1 },
  ]
}

/** Amounts of both tokens, in two consecutive words. */
export function bothAmountsAt(data: Uint8Array, index: number): TokenAmount[] | undefined {
  const amount0 = uintAt(data, index)
  const amount1 = uintAt(data, index + 1)
  return amount0 === undefined || amount1 === undefined ? undefined : bothAmounts(amount0, amount1)
}

/** A square root price and its tick; undefined if no pool can have them. */
export function sqrtPriceAt(data: Uint8Array, priceIndex: number, tickIndex: number): PoolPrice | undefined {
  const sqrtPriceX96 = uintAt(data, priceIndex)
  const tick = smallIntAt(data, tickIndex)
  if (sqrtPriceX96 === undefined || !isTick(tick)) return undefined
  if (sqrtPriceX96 < MIN_SQRT_PRICE || sqrtPriceX96 >= MAX_SQRT_PRICE) return undefined
  return { kind: 'sqrt', sqrtPriceX96, tick }
}
