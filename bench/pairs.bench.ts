import { rmSync } from 'node:fs'
import { makeKnownPairs } from './engine/known-pairs.ts'
import { MeasuredFold } from './engine/measured-fold.ts'
import { parsedSwaps } from './engine/parsed-swaps.ts'
import { readRecordedSwaps } from './engine/recorded-swaps.ts'
import { sized } from './form.ts'
import type { Bench, Figure, Sides } from './measure.ts'

const SIZES = sized({
  full: [1_000, 10_000, 100_000, 1_000_000],
  short: [1_000, 10_000, 50_000],
  smoke: [200, 1_500],
})

/** What a swap costs the engine, live, by how many pairs there are: docs/scale.md shows the curve. */
export const bench: Bench = { figures: SIZES.map(liveWith) }

function liveWith(pairs: number): Figure {
  return {
    name: `live, ${pairs} known pairs / JSON.parse of the full-form swap`,
    ...{ bar: 0.035, goal: 0.08, direction: 'at least', per: 'cpu second' },
    open: async (): Promise<Sides> => {
      const recorded = readRecordedSwaps()
      const known = await makeKnownPairs(recorded, pairs)
      process.once('exit', () => rmSync(known.dir, { recursive: true, force: true }))
      const fold = new MeasuredFold(recorded, { pairs }, known)
      return {
        subject: fold.slice,
        baseline: parsedSwaps(fold.sampleTrades()),
        close: () => fold.close(),
      }
    },
  }
}
