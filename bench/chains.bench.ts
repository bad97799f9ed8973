import { sized } from './form.ts'
import { type Bench, recordedValues, type Sides } from './measure.ts'
import { leaveServerCore } from './rest/measured-process.ts'
import { openPipeline } from './roles/role-pipeline.ts'

const CHAINS = sized({ full: 50, short: 50, smoke: 5 })
const PAIRS = sized({ full: 3_000, short: 1_000, smoke: 200 })
const SWAPS_PER_SLICE = sized({ full: 4_000, short: 3_000, smoke: 200 })
const MAX_BYTES_PER_CHAIN = 20_000_000

/** Recorded by the first figure for the second. */
const sharesOfMemory: number[] = []

/** What other chains cost a busy one: engine, writer and gateway serve all of them, as one process each. */
export const bench: Bench = {
  figures: [
    {
      name: `swaps of a chain with ${CHAINS - 1} idle ones beside it / without them`,
      bar: 0.75,
      goal: 0.95,
      direction: 'at least',
      per: 'cpu second',
      open,
    },
    {
      name: 'resident bytes of engine, writer and gateway per idle chain / 20 MB',
      bar: 1,
      goal: 0.2,
      direction: 'at most',
      per: 'slice',
      maxRounds: { warmUpPairs: 0, pairs: 1 },
      open: () => ({ subject: recordedValues(sharesOfMemory) }),
    },
  ],
}

async function open(): Promise<Sides> {
  leaveServerCore()
  const market = { pairs: PAIRS, swapsPerSlice: SWAPS_PER_SLICE }
  const many = await openPipeline({ ...market, idleChains: CHAINS - 1 })
  const one = await openPipeline(market)
  return {
    subject: many.slice,
    baseline: one.slice,
    close: async () => {
      const perChain = (many.residentBytes() - one.residentBytes()) / (CHAINS - 1)
      sharesOfMemory.push(Math.max(0, perChain) / MAX_BYTES_PER_CHAIN)
      await many.close()
      await one.close()
    },
  }
}
