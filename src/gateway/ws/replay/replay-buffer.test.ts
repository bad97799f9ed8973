import assert from 'node:assert/strict'
import test from 'node:test'
import { sampleSet, sampleToken } from '../../../../test/support/builders/market-samples.ts'
import { encodeChangeSet } from '../../../wire/change-codec.ts'
import { ReplayBuffer } from './replay-buffer.ts'

const at = (seq: number, epoch = 'e') => ({ epoch, sequence: seq, link: seq })
const origin = (seq: number, epoch = 'e') => ({ after: at(seq, epoch), seq: 100 + seq, time: seq })
/** Each message takes two places in the log. */
const setOf = (index: number) => sampleSet(100 + 2 * index, [{ type: 'token', token: sampleToken() }])
const SIZE = encodeChangeSet(setOf(99)).length

function filled(count: number, maxBytes: number): ReplayBuffer {
  const recent = new ReplayBuffer(maxBytes)
  for (let index = 1; index <= count; index++)
    recent.add(origin(2 * index - 2), at(2 * index), encodeChangeSet(setOf(index)))
  return recent
}

test('a page begins right after a place, and is as large as asked, but has one set at least', () => {
  const recent = filled(5, 1_000_000)
  const page = recent.page(origin(2), SIZE + 1)
  assert.deepEqual(page, [
    { origin: origin(2), position: at(4), set: setOf(2) },
    { origin: origin(4), position: at(6), set: setOf(3) },
  ])
  assert.deepEqual(
    recent.page(origin(6), 1)?.map(({ set }) => set),
    [setOf(4)],
  )
  assert.deepEqual(
    recent.page(origin(0), 1_000_000)?.map(({ set }) => set),
    [1, 2, 3, 4, 5].map(setOf),
  )
  assert.deepEqual(recent.page(origin(10), 1_000_000), [])
})

test('a position outside the buffer is classified: dropped, not yet received, inside a message, or of another log', () => {
  const recent = filled(100, 10 * SIZE)
  assert.ok(recent.holds(origin(180)) && recent.holds(origin(198)) && recent.holds(origin(200)))
  for (const place of [origin(178), origin(0), origin(202), origin(185), origin(198, 'other')]) {
    assert.deepEqual(
      [recent.holds(place), recent.page(place, 1)],
      [false, undefined],
      `${place.after.sequence}`,
    )
  }
  for (const seq of [198, 200]) {
    const forged = { ...origin(seq), after: { ...at(seq), link: 1 } }
    assert.deepEqual([recent.holds(forged), recent.page(forged, 1)], [false, undefined])
  }
  const empty = new ReplayBuffer(10)
  assert.equal(empty.holds(origin(0)), false)
  // The newest stays, however large.
  assert.deepEqual(filled(3, 1).page(origin(4), 1)?.length, 1)
})
