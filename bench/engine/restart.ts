import type { MarketPlace } from './made-market.ts'
import { MeasuredFold } from './measured-fold.ts'
import { readRecordedSwaps } from './recorded-swaps.ts'

export type RestartPlan = { dir: string; place: MarketPlace; pairs: number; foldMs: number }

export type Restarted = {
  /** From the start of the process, less what it took to make up the market. */
  seconds: number
  /** After folding on for a while. */
  residentBytes: number
  /** Where the next one has to go on. */
  place: MarketPlace
}

/** A process of its own, that goes on from what is on disk: the first block, then more. */
const plan = JSON.parse(process.argv[2] ?? '') as RestartPlan
const readStart = performance.now()
const recorded = readRecordedSwaps()
const readMs = performance.now() - readStart
const fold = new MeasuredFold(recorded, { pairs: plan.pairs }, plan)
fold.foldBlock()
const seconds = (performance.now() - readMs) / 1_000
fold.foldFor(plan.foldMs)
fold.commit()
const restarted: Restarted = { seconds, residentBytes: process.memoryUsage().rss, place: fold.place }
console.log(JSON.stringify(restarted))
await fold.close(true)
