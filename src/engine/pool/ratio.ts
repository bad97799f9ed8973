import type { PoolPrice } from '../../dex/events.ts'
import { rawPrice } from '../../dex/pool-price.ts'
import type { Pair } from '../../domain/change.ts'
import { never } from '../../domain/ids.ts'
import type { Pool, Priced, Ratio } from './pool.ts'

/** Prices from pool events, and the last exchange for pools whose events report none. */
type Prices = {
  reported(pool: Priced): PoolPrice | undefined
  lastExchange(pair: Priced): Ratio | undefined
}

/** `isCurve`: a bonding curve keeps its price when its funds leave, because its token has no other until the pool exists. */
export function ratioOf(
  pool: Pool & Priced,
  pair: Pair & Priced,
  prices: Prices,
  isCurve = false,
): Ratio | undefined {
  const { pricing } = pool
  if (pricing.kind === 'trades') return prices.lastExchange(pair)
  const raw0 = pair.token0.reserveRaw
  const raw1 = pair.token1.reserveRaw
  switch (pricing.kind) {
    case 'reserves':
      // A pool with an empty side has no price.
      return raw0 && raw1 ? { raw0, raw1 } : undefined
    case 'sqrtPrice':
    case 'bins': {
      // Anyone can create an empty pool at any price, so its price does not count.
      if (raw0 === 0n && raw1 === 0n && !isCurve) return undefined
      const reported = prices.reported(pool)
      const price = reported === undefined ? undefined : rawPrice(reported, pricing)
      return price === undefined ? undefined : { raw0: price.denominator, raw1: price.numerator }
    }
    default:
      return never(pricing)
  }
}
