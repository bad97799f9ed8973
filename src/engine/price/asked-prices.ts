import type { PairView } from '../pair/pair-view.ts'
import type { Ratio } from '../pool/pool.ts'
import type { EngineSettings } from '../settings.ts'
import { type EngineTables, ONLY, type Unsettled } from '../tables.ts'
import { noteAnchor } from './anchors.ts'
import { compareRatios, medianRatio } from './median.ts'
import type { ReferencePrices } from './reference-prices.ts'

/** Pool prices during one block, and the counted price that results from them. */
export class AskedPrices {
  /** One price per event; `last` is undefined if the pool has no price at the end. */
  readonly #asked = new Map<PairView, { ratios: Ratio[]; last: Ratio | undefined }>()

  note(pair: PairView, ratio: Ratio | undefined): void {
    let asked = this.#asked.get(pair)
    if (asked === undefined) {
      asked = { ratios: [], last: undefined }
      this.#asked.set(pair, asked)
    }
    if (ratio !== undefined) asked.ratios.push(ratio)
    asked.last = ratio
  }

  /**
   * Settles counted prices at the end of the block: the median over the block counts. If the block ended at another
   * price, that one counts after the next block, unless the pool changed again. Returns the pairs whose previous price
   * settled so.
   */
  settle(settings: EngineSettings, tables: EngineTables, reference: ReferencePrices): PairView[] {
    const { prices, unsettled, pairs } = tables
    const open: Unsettled[] = []
    for (const [pair, { ratios, last }] of this.#asked) {
      const before = prices.counted(pair)
      if (last === undefined) prices.setCounted(pair, undefined)
      else {
        const counted = medianRatio(before === undefined ? ratios : [before, ...ratios], last)
        prices.setCounted(pair, counted)
        if (counted !== last && compareRatios(counted, last) !== 0)
          open.push({ pair: pair.address, ratio: last })
      }
    }
    const waiting = unsettled.get(ONLY) ?? []
    const settled: PairView[] = []
    for (const { pair: address, ratio } of waiting) {
      const pair = pairs.get(address)
      if (pair === undefined || this.#asked.has(pair)) continue
      prices.setCounted(pair, ratio)
      settled.push(pair)
    }
    if (open.length > 0 || waiting.length > 0) unsettled.put(ONLY, open)
    for (const pair of this.#asked.keys()) noteAnchor(pair, reference, settings, tables)
    for (const pair of settled) noteAnchor(pair, reference, settings, tables)
    return settled
  }
}
