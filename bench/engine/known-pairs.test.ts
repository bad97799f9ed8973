import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { openStateStore } from '../../src/store/lmdb/state-store.ts'
import { decodeChangeSet } from '../../src/wire/change-codec.ts'
import { makeKnownPairs } from './known-pairs.ts'
import { FORMAT, MeasuredFold } from './measured-fold.ts'
import { readRecordedSwaps } from './recorded-swaps.ts'

const PAIRS = 200
const FOLDED = 60
/** Their numbers of keys depend on the blocks, not on the pairs. */
const BLOCK_TABLES = /^(deferred|emitted|journal)\//

const recorded = readRecordedSwaps()

/** The keys of the state, and the ids of all documents that a trade of every pair publishes. */
async function outcomeOf(folded: number): Promise<{ keys: string[]; documents: string[]; unpriced: number }> {
  const { dir, place } = await makeKnownPairs(recorded, PAIRS, folded)
  try {
    const store = openStateStore({ dir, format: FORMAT })
    const keys = Array.from(store.entries(), ([key]) => key).filter((key) => !BLOCK_TABLES.test(key))
    await store.close()
    const fold = new MeasuredFold(recorded, { pairs: PAIRS }, { dir, place })
    const all = Array.from({ length: PAIRS }, (_, pair) => pair)
    const changes = fold
      .foldBlockAt(place.time + 12, all)
      .flatMap(({ bytes }) => decodeChangeSet(bytes).changes)
      // The main pair is the deepest one, and copies have the depths of other pairs.
      .filter(({ type }) => type !== 'switch')
    await fold.close(true)
    const documents = changes.map((change) => {
      const { pair, token, address, interval } = Object.values(change)[1]
      return [change.type, pair, token, address, interval].join(' ')
    })
    const unpriced = changes.filter(
      (change) => change.type === 'trade' && change.trade.valueUsd === undefined,
    )
    return { keys, documents: documents.sort(), unpriced: unpriced.length }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

test('copied pairs have the keys of folded ones, and their trades publish the same documents', async () => {
  const copied = await outcomeOf(FOLDED)
  const folded = await outcomeOf(PAIRS)
  assert.equal(copied.unpriced, 0)
  assert.deepEqual(copied.keys, folded.keys)
  assert.deepEqual(copied.documents, folded.documents)
})

test('the TVL of a quote asset includes copied pairs, so it does not become negative when theirs falls', async () => {
  const known = await makeKnownPairs(recorded, 2_000, 1_000)
  const fold = new MeasuredFold(recorded, { pairs: 2_000 }, known)
  for (let block = 0; block < 40; block++) fold.foldBlock()
  await fold.close()
})
