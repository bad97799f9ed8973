import { openStateStore } from '../../src/store/lmdb/state-store.ts'
import { sized } from '../form.ts'
import { copyPairs } from './copied-pairs.ts'
import type { MarketPlace } from './made-market.ts'
import { FORMAT, MeasuredFold } from './measured-fold.ts'
import type { RecordedSwaps } from './recorded-swaps.ts'

/** The pairs that trade most often; of a million, they have two thirds of all trades. */
const FOLDED_PAIRS = sized({ full: 10_000, short: 10_000, smoke: 1_000 })

/** A folder with the state of so many pairs, all of which were last traded in old blocks, as after a backfill. */
export async function makeKnownPairs(
  recorded: RecordedSwaps,
  pairs: number,
  folded = Math.min(pairs, FOLDED_PAIRS),
): Promise<{ dir: string; place: MarketPlace }> {
  const start = performance.now()
  const fold = new MeasuredFold(recorded, { pairs: folded, isHistory: true })
  fold.introduce()
  const { dir, place } = fold
  await fold.close(true)
  const copyStart = performance.now()
  const store = openStateStore({ dir, format: FORMAT })
  copyPairs(store, folded, pairs)
  await store.close()
  const seconds = [copyStart - start, performance.now() - copyStart].map((ms) => (ms / 1_000).toFixed(1))
  console.log(`${folded} pairs folded in ${seconds[0]} s, the others copied in ${seconds[1]} s`)
  return { dir, place }
}
