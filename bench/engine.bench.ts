import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { swapPush } from '../src/gateway/shape/swap-transaction.ts'
import { MeasuredFold } from './engine/measured-fold.ts'
import { readRecordedSwaps } from './engine/recorded-swaps.ts'
import type { Restarted, RestartPlan } from './engine/restart.ts'
import { type Bench, repeat, type Sides, type Slice } from './measure.ts'

const isSmoke = process.argv.includes('--smoke')
const FEW_PAIRS = isSmoke ? 100 : 1_000
const USUAL_PAIRS = isSmoke ? 500 : 10_000
const MANY_PAIRS = isSmoke ? 2_000 : 1_000_000
/** As many as the engine's role folds between two commits when it has to catch up. */
const blocksPerCommit = isSmoke ? 8 : 256

const MAX_RESTART_SECONDS = 3
const MAX_RESIDENT_BYTES = 2_000_000_000

/**
 * The whole way of a BLOCKS message through the engine: bytes to envelope, the fold, changes to bytes, state to disk.
 * Measured by CPU time; what the clock says, with the disk's share, is printed beside it.
 */
export const bench: Bench = {
  figures: [
    {
      name: 'swaps folded / JSON.parse of the full-form swap',
      bar: 0.25,
      goal: 0.5,
      direction: 'at least',
      per: 'cpu second',
      open: openFold,
    },
    {
      name: `swaps at ${MANY_PAIRS} known pairs / at ${FEW_PAIRS}`,
      // Each costs at most one and a half times as much.
      bar: 1 / 1.5,
      goal: 0.9,
      direction: 'at least',
      per: 'cpu second',
      open: openGrowth,
    },
    {
      name: `resident bytes at ${MANY_PAIRS} known pairs / 2 GB`,
      bar: 1,
      goal: 0.5,
      direction: 'at most',
      per: 'slice',
      open: () => openRestarts(({ residentBytes }) => residentBytes / MAX_RESIDENT_BYTES),
    },
    {
      name: `from the start of the process to a first block at ${MANY_PAIRS} known pairs / 3 s`,
      bar: 1,
      goal: 0.3,
      direction: 'at most',
      per: 'slice',
      open: () => openRestarts(({ seconds }) => seconds / MAX_RESTART_SECONDS),
    },
  ],
}

const recorded = readRecordedSwaps()

function openFold(): Sides {
  const fold = new MeasuredFold(recorded, { pairs: USUAL_PAIRS, blocksPerCommit })
  fold.introduce()
  const texts = fold.sampleTrades().map((trade) => JSON.stringify(swapPush('eth', trade).tx))
  let parsed: unknown[] = []
  return {
    subject: fold.slice,
    baseline: repeat(
      () => {
        parsed = texts.map((text) => JSON.parse(text))
        return parsed.length
      },
      () => (parsed.every((swap, at) => JSON.stringify(swap) === texts[at]) ? undefined : 'parsed differs'),
    ),
    close: async () => {
      console.log(`${Math.round(fold.swapsPerSecond)} swaps/s by the clock, commits to disk included`)
      await fold.close()
    },
  }
}

/** Kept for the restarts that are measured after it. */
let many: { dir: string; place: RestartPlan['place'] } | undefined

async function openGrowth(): Promise<Sides> {
  const few = new MeasuredFold(recorded, { pairs: FEW_PAIRS, blocksPerCommit })
  few.introduce()
  const fold = new MeasuredFold(recorded, { pairs: MANY_PAIRS, blocksPerCommit })
  fold.introduce()
  return {
    subject: fold.slice,
    baseline: few.slice,
    close: async () => {
      const rates = [few, fold].map(({ swapsPerSecond }) => Math.round(swapsPerSecond))
      const { rss, heapTotal, external } = process.memoryUsage()
      // The pages of the store count as resident, too, while nobody else needs the memory.
      const [residentMb, ownMb] = [rss, heapTotal + external].map((bytes) => Math.round(bytes / 1e6))
      console.log(`${rates.join(' and ')} swaps/s by the clock, commits to disk included`)
      console.log(
        `both engines and this bench: ${residentMb} MB resident, ${ownMb} MB of them on the heap or beside it`,
      )
      await few.close()
      fold.commit()
      many = { dir: fold.dir, place: fold.place }
      process.once('exit', () => rmSync(fold.dir, { recursive: true, force: true }))
      await fold.close(true)
    },
  }
}

/** The baseline is the limit itself. */
function openRestarts(share: (restarted: Restarted) => number): Sides {
  const state = many
  if (state === undefined) throw new Error('there is no large state to restart with')
  const one: Slice = async (durationMs) => {
    await new Promise((resolve) => setTimeout(resolve, durationMs))
    return { units: 1 }
  }
  return {
    subject: async (durationMs) => {
      const [restarted] = await Promise.all([
        restart({ ...state, size: { pairs: MANY_PAIRS, blocksPerCommit: 8 }, foldMs: durationMs }),
        one(durationMs),
      ])
      state.place = restarted.place
      return { units: share(restarted) }
    },
    baseline: one,
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
