import type { PairView } from '../pair/pair-view.ts'
import type { Ratio } from '../pool/pool.ts'
import type { EngineSettings } from '../settings.ts'
import { type EngineTables, ONLY, type Unsettled } from '../tables.ts'
import { noteAnchor } from './anchors.ts'
import { compareRatios, medianRatio } from './median.ts'
import type { ReferencePrices } from './reference-prices.ts'

/** What pools asked in the course of one block, and what of it counts for others. */
export class AskedPrices {
  /** After each event; `last` is undefined once the pool asks nothing any more. */
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
   * At the end of the block: each touched pool's price counts as the middle of the block. Where the block ended
   * elsewhere, that is taken over after the next block, if it still stands. Gives the pairs where it did.
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
