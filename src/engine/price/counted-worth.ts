import type { PairView } from '../pair/pair-view.ts'
import type { PriceTable } from '../pool/price-table.ts'
import { poolWorth } from './pair-prices.ts'
import type { ReferencePrices } from './reference-prices.ts'
import type { Worth } from './worth.ts'

/** Prices of target tokens at the end of a block, from the pairs' counted prices. Each is computed once. */
export class CountedWorth {
  /** Reference prices at the end of the block. */
  readonly reference: ReferencePrices
  readonly #prices: PriceTable
  readonly #known = new Map<PairView, Worth>()

  constructor(reference: ReferencePrices, prices: PriceTable) {
    this.reference = reference
    this.#prices = prices
  }

  worthOf(pair: PairView): Worth {
    let worth = this.#known.get(pair)
    if (worth === undefined) {
      worth = poolWorth(pair, this.#prices.counted(pair), this.reference)
      this.#known.set(pair, worth)
    }
    return worth
  }
}
