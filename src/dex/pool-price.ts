import type { Pricing } from '../domain/envelope.ts'
import { binPrice, type Ratio } from './bin-price.ts'
import type { PoolPrice } from './events.ts'

const TWO_192 = 1n << 192n

/**
 * Base units of the pool's second token per base unit of its first. Undefined if the price is invalid, or of another
 * kind than the pool's pricing.
 */
export function rawPrice(price: PoolPrice, pricing: Pricing): Ratio | undefined {
  if (price.kind === 'bin') {
    return pricing.kind === 'bins' ? binPrice(price.id, pricing.binStep) : undefined
  }
  if (pricing.kind !== 'sqrtPrice' || price.sqrtPriceX96 <= 0n) return undefined
  return { numerator: price.sqrtPriceX96 * price.sqrtPriceX96, denominator: TWO_192 }
}
