import type { PoolPrice } from '../../dex/events.ts'
import { rawPrice } from '../../dex/pool-price.ts'
import type { Pair } from '../../domain/change.ts'
import { never } from '../../domain/ids.ts'
import type { Pool } from './pool.ts'

/** So much of one token stands against so much of the other, in base units: the pool price. */
export type Ratio = { readonly raw0: bigint; readonly raw1: bigint }

/** What pools told, and of pools that tell nothing, their last exchange. */
type Prices = {
  told(pool: string): PoolPrice | undefined
  lastExchange(pair: string): Ratio | undefined
}

export function ratioOf(pool: Pool, pair: Pair, prices: Prices): Ratio | undefined {
  const raw0 = pair.token0.reserveRaw
  const raw1 = pair.token1.reserveRaw
  switch (pool.pricing.kind) {
    case 'reserves':
      // With one side empty there is nothing to be had, at any price.
      return raw0 && raw1 ? { raw0, raw1 } : undefined
    case 'sqrtPrice':
    case 'bins': {
      // Anyone can create a pool at any price: while it holds nothing, nobody stands behind that.
      if (raw0 === 0n && raw1 === 0n) return undefined
      const told = prices.told(pool.address)
      const price = told === undefined ? undefined : rawPrice(told, pool.pricing)
      return price === undefined ? undefined : { raw0: price.denominator, raw1: price.numerator }
    }
    case 'trades':
      return prices.lastExchange(pair.address)
    default:
      return never(pool.pricing)
  }
}
