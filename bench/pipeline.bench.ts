import { MeasuredFold } from './engine/measured-fold.ts'
import { parsedSwaps } from './engine/parsed-swaps.ts'
import { readRecordedSwaps } from './engine/recorded-swaps.ts'
import { sized } from './form.ts'
import type { Bench, Sides } from './measure.ts'
import { leaveServerCore } from './rest/measured-process.ts'
import { openPipeline } from './roles/role-pipeline.ts'

const PAIRS = sized({ full: 10_000, short: 3_000, smoke: 200 })
const SWAPS_PER_SLICE = sized({ full: 4_000, short: 3_000, smoke: 200 })

/**
 * From BLOCKS to rows, documents and pushes: engine, writer and gateway, each in its own process, by the total CPU time
 * of all three. NATS, Redis and ClickHouse are real, but their time is not counted.
 */
export const bench: Bench = {
  figures: [
    {
      name: 'swaps from BLOCKS to rows and pushes / JSON.parse of the full-form swap',
      bar: 0.025,
      goal: 0.05,
      direction: 'at least',
      per: 'cpu second',
      open,
    },
  ],
}

async function open(): Promise<Sides> {
  leaveServerCore()
  const { slice, close } = await openPipeline({ pairs: PAIRS, swapsPerSlice: SWAPS_PER_SLICE })
  return { subject: slice, baseline: parsedSwaps(await sampleTrades()), close }
}

async function sampleTrades() {
  const fold = new MeasuredFold(readRecordedSwaps(), { pairs: 500 })
  fold.introduce()
  const trades = fold.sampleTrades()
  await fold.close()
  return trades
}
