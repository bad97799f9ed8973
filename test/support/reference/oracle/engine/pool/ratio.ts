import { rawPrice } from '../../../../../../src/dex/pool-price.ts'
import type { Pair } from '../../../../../../src/domain/change.ts'
import { never } from '../../../../../../src/domain/ids.ts'
import type { Table } from '../../state/journaled-state.ts'
import type { Pool } from './pool.ts'

/** So much of one token stands against so much of the other, in base units: the pool price. */
export type Ratio = { readonly raw0: bigint; readonly raw1: bigint }

export function ratioOf(pool: Pool, pair: Pair, lastExchanges: Table<Ratio>): Ratio | undefined {
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
      const price = pool.price === undefined ? undefined : rawPrice(pool.price, pool.pricing)
      return price === undefined ? undefined : { raw0: price.denominator, raw1: price.numerator }
    }
    case 'trades':
      return lastExchanges.get(pair.address)
    default:
      return never(pool.pricing)
  }
}
