import type { PoolPrice } from '../../dex/events.ts'
import type { JournaledState, RecordCodec, Table } from '../../state/journaled-state.ts'
import { readPricing, writePricing } from '../../wire/envelope-codec.ts'
import type { Pool } from './pool.ts'
import type { PriceTable } from './price-table.ts'

/** All but the price, which stands elsewhere: nothing else ever changes. */
const poolCodec: RecordCodec<Pool> = {
  write: (w, { address, factory, tokens, pricing, goalRaw }) => {
    w.recurringId(address)
    w.recurringId(factory)
    w.list(tokens, (token) => w.recurringId(token))
    writePricing(w, pricing)
    w.optional(goalRaw, (known) => w.biguint(known))
  },
  read: (r) => ({
    address: r.id(),
    factory: r.id(),
    tokens: r.list(() => r.id()),
    pricing: readPricing(r),
    price: undefined,
    goalRaw: r.optional(() => r.biguint()),
  }),
}

/** By address. */
export class PoolTable {
  readonly #pools: Table<Pool>
  readonly #prices: PriceTable

  constructor(state: JournaledState, prices: PriceTable) {
    this.#pools = state.table('pool', poolCodec)
    this.#prices = prices
  }

  has(address: string): boolean {
    return this.#pools.get(address) !== undefined
  }

  get(address: string): Pool | undefined {
    const pool = this.#pools.get(address)
    // The price of one that is priced by its reserves is in its pair.
    if (pool === undefined || pool.pricing.kind === 'reserves') return pool
    return { ...pool, price: this.#prices.told(address) }
  }

  put(pool: Pool): void {
    this.#pools.put(pool.address, pool)
  }

  withPrice(pool: Pool, price: PoolPrice): Pool {
    this.#prices.setTold(pool.address, price)
    return { ...pool, price }
  }
}
