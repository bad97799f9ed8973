import type { Ratio } from '../pool/ratio.ts'
import type { EngineSettings } from '../settings.ts'
import { type EngineTables, ONLY, type Unsettled } from '../tables.ts'
import { noteAnchor } from './anchors.ts'
import { compareRatios, medianRatio } from './median.ts'
import type { ReferencePrices } from './reference-prices.ts'

/** What pools asked in the course of one block, and what of it counts for others. */
export class AskedPrices {
  /** By pair: after each event; `last` is undefined once the pool asks nothing any more. */
  readonly #asked = new Map<string, { ratios: Ratio[]; last: Ratio | undefined }>()

  note(pair: string, ratio: Ratio | undefined): void {
    const asked = this.#asked.get(pair) ?? { ratios: [], last: undefined }
    if (ratio !== undefined) asked.ratios.push(ratio)
    asked.last = ratio
    this.#asked.set(pair, asked)
  }

  /**
   * At the end of the block: each touched pool's price counts as the middle of the block. Where the block ended
   * elsewhere, that is taken over after the next block, if it still stands. Gives the pairs where it did.
   */
  settle(settings: EngineSettings, tables: EngineTables, reference: ReferencePrices): string[] {
    const { references, unsettled, pairs } = tables
    const open: Unsettled[] = []
    for (const [pair, { ratios, last }] of this.#asked) {
      const before = references.get(pair)
      if (last === undefined) references.delete(pair)
      else {
        const counted = medianRatio(before === undefined ? ratios : [before, ...ratios], last)
        references.put(pair, counted)
        if (compareRatios(counted, last) !== 0) open.push({ pair, ratio: last })
      }
    }
    const waiting = unsettled.get(ONLY) ?? []
    const standing = waiting.filter(({ pair }) => !this.#asked.has(pair))
    for (const { pair, ratio } of standing) references.put(pair, ratio)
    if (open.length > 0 || waiting.length > 0) unsettled.put(ONLY, open)
    const settled = standing.map(({ pair }) => pair)
    for (const address of new Set([...this.#asked.keys(), ...settled])) {
      const pair = pairs.get(address)
      if (pair !== undefined) noteAnchor(pair, references.get(address), reference, settings, tables)
    }
    return settled
  }
}
