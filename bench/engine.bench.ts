import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { compressionReport } from './engine/compression.ts'
import { makeKnownPairs } from './engine/known-pairs.ts'
import type { MarketPlan } from './engine/made-market.ts'
import { MeasuredFold } from './engine/measured-fold.ts'
import { parsedSwaps } from './engine/parsed-swaps.ts'
import { readRecordedSwaps } from './engine/recorded-swaps.ts'
import type { Restarted, RestartPlan } from './engine/restart.ts'
import { sized } from './form.ts'
import { type Bench, type Figure, recordedValues, type Sides } from './measure.ts'

const USUAL_PAIRS = sized({ full: 10_000, short: 10_000, smoke: 500 })
const MANY_PAIRS = sized({ full: 1_000_000, short: 25_000, smoke: 2_000 })

/** Compared by how they compress. */
const REPORTED_BLOCKS = 64

const MAX_RESTART_SECONDS = 3
const MAX_RESIDENT_BYTES = 2_000_000_000

const folded = { direction: 'at least', per: 'cpu second' } as const satisfies Partial<Figure>
const limited = { direction: 'at most', per: 'slice' } as const satisfies Partial<Figure>
const restarts = { ...limited, maxRounds: { warmUpPairs: 1, pairs: 7 } } as const satisfies Partial<Figure>

/**
 * The whole way of a BLOCKS message through the engine: its bytes, the fold, bytes of CHANGES, state to disk.
 * Measured by CPU time; what the clock says, with the disk's share, is printed beside it.
 */
export const bench: Bench = {
  figures: [
    {
      name: `live, ${USUAL_PAIRS} pairs / JSON.parse of the full-form swap`,
      ...{ ...folded, bar: 0.08, goal: 0.12 },
      open: () => openNew({ pairs: USUAL_PAIRS }, liveBytes),
    },
    {
      name: 'bytes of CHANGES per swap, live',
      ...{ ...limited, bar: 1_000, goal: 400 },
      open: () => ({ subject: recordedValues(liveBytes) }),
    },
    {
      name: 'live, two Transfers per swap / JSON.parse of the full-form swap',
      ...{ ...folded, bar: 0.065, goal: 0.1 },
      open: () => openNew({ pairs: USUAL_PAIRS, hasTransfers: true }),
    },
    {
      name: 'backfill / JSON.parse of the full-form swap',
      ...{ ...folded, bar: 0.16, goal: 0.25 },
      open: () => openNew({ pairs: USUAL_PAIRS, isHistory: true }),
    },
    {
      name: `live, ${MANY_PAIRS} pairs / JSON.parse of the full-form swap`,
      ...{ ...folded, bar: 0.035, goal: 0.08 },
      open: openMany,
    },
    {
      name: `resident bytes at ${MANY_PAIRS} known pairs / 2 GB`,
      ...{ ...restarts, bar: 1, goal: 0.6 },
      open: openRestarts,
    },
    {
      name: `from the start of the process to a first block at ${MANY_PAIRS} known pairs / 3 s`,
      ...{ ...restarts, bar: 0.7, goal: 0.3, isTime: true },
      open: () => ({ subject: recordedValues(restartShares) }),
    },
  ],
}

const recorded = readRecordedSwaps()
/** Recorded by the first figure for the second, and by the last but one for the last. */
const liveBytes: number[] = []
const restartShares: number[] = []
/** Kept for the restarts that are measured after it. */
let many: Pick<RestartPlan, 'dir' | 'place'> | undefined

function openNew(plan: MarketPlan, bytesPerSwap: number[] = []): Sides {
  const start = performance.now()
  const fold = new MeasuredFold(recorded, plan)
  fold.introduce()
  console.log(`${plan.pairs} pairs folded in ${((performance.now() - start) / 1_000).toFixed(1)} s`)
  return sidesOf(fold, async () => {
    bytesPerSwap.push(...fold.bytesPerSwap)
    await fold.close()
  })
}

async function openMany(): Promise<Sides> {
  const known = await makeKnownPairs(recorded, MANY_PAIRS)
  process.once('exit', () => rmSync(known.dir, { recursive: true, force: true }))
  const fold = new MeasuredFold(recorded, { pairs: MANY_PAIRS }, known)
  return sidesOf(fold, async () => {
    fold.commit()
    many = { dir: fold.dir, place: fold.place }
    await fold.close(true)
  })
}

function sidesOf(fold: MeasuredFold, close: () => Promise<void>): Sides {
  return {
    subject: fold.slice,
    baseline: parsedSwaps(fold.sampleTrades()),
    close: async () => {
      const { rss, heapTotal, external } = process.memoryUsage()
      // The pages of the store count as resident, too, while nobody else needs the memory.
      const [residentMb, ownMb] = [rss, heapTotal + external].map((bytes) => Math.round(bytes / 1e6))
      console.log(
        `${Math.round(fold.swapsPerSecond)} swaps/s by the clock, commits to disk included; ` +
          `${residentMb} MB resident, ${ownMb} MB of them on the heap or beside it; ` +
          `${Math.round(fold.commitMicrosPerSwap)} µs of CPU time per swap in the last commit`,
      )
      console.log(compressionReport(Array.from({ length: REPORTED_BLOCKS }, () => fold.foldBlock()).flat()))
      await close()
    },
  }
}

function openRestarts(): Sides {
  const state = many
  if (state === undefined) throw new Error('there is no large state to restart with')
  return {
    subject: async (durationMs) => {
      const restarted = await restart({ ...state, pairs: MANY_PAIRS, foldMs: durationMs })
      state.place = restarted.place
      restartShares.push(restarted.seconds / MAX_RESTART_SECONDS)
      return { units: restarted.residentBytes / MAX_RESIDENT_BYTES }
    },
  }
}

async function restart(plan: RestartPlan): Promise<Restarted> {
  const script = path.join(import.meta.dirname, 'engine/restart.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const chunk of child.stdout) said += chunk
  return JSON.parse(said) as Restarted
}
