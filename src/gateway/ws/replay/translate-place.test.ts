import assert from 'node:assert/strict'
import test from 'node:test'
import { sampleSet, sampleTrade } from '../../../../test/support/builders/market-samples.ts'
import type { Change, ChangeSet } from '../../../domain/change.ts'
import type { LogPosition } from '../../../domain/log-position.ts'
import type { Standing } from '../../../log/chain-log.ts'
import { encodeChangeSet } from '../../../wire/change-codec.ts'
import type { ReplayedLog } from './replayed-logs.ts'
import { translatePlace } from './translate-place.ts'

const trade = (log: number): Change => ({
  type: 'trade',
  trade: sampleTrade({ key: { block: 100, tx: 0, log } }),
})

/** A log whose message n is at the sequence n + `shift`, because others came before it. */
function logOf(
  epoch: string,
  sets: readonly ChangeSet[],
  shift = 0,
  standing: Standing = 'held',
): ReplayedLog {
  const at = (index: number): LogPosition => ({ epoch, sequence: index + 1 + shift, link: index + 1 })
  const messages = sets.map((set, index) => ({ body: encodeChangeSet(set), position: at(index) }))
  return {
    epoch,
    locate: async () => standing,
    lastSequence: async () => sets.length + shift,
    positionWhere: async (isUpTo) =>
      messages.findLast(({ body }) => isUpTo(body))?.position ?? { epoch, sequence: 0, link: 0 },
    async *read({ after }) {
      yield* messages.filter(({ position }) => position.sequence > (after?.sequence ?? 0))
    },
  }
}

const placeIn = (epoch: string, seq: number, published = 0) => ({
  ...{ after: { epoch, sequence: seq, link: seq }, seq, time: 1_700_000_000 + seq, published },
})

function translate(
  place: ReturnType<typeof placeIn>,
  source: ReplayedLog,
  served: ReplayedLog,
  end = 3,
): ReturnType<typeof translatePlace> {
  const { signal } = new AbortController()
  return translatePlace(place, { source, served, placeAt: () => undefined, end: () => end, signal })
}

const SENT = [1, 2].map((seq) => sampleSet(seq, []))

test('between two sets: after the same set of the other log', async () => {
  const [source, served] = [logOf('one', SENT), logOf('two', SENT, 10)]
  assert.deepEqual(await translate(placeIn('one', 2), source, served), {
    ...placeIn('two', 2),
    after: { epoch: 'two', sequence: 12, link: 2 },
  })
  const later = logOf('two', [sampleSet(3, [])], 10)
  assert.deepEqual(await translate(placeIn('one', 2), source, later), {
    ...{ after: { epoch: 'two', sequence: 0, link: 0 }, seq: 0, time: 0, published: 0 },
  })
})

test('in the middle of a set: after the event that was sent last, or the ones before it', async () => {
  const source = logOf('one', [...SENT, sampleSet(3, [trade(1), trade(3), trade(5)])])
  const cases: readonly (readonly [Change[], number, number])[] = [
    // The other generation has an event of a pool more.
    [[trade(1), trade(2), trade(3), trade(5)], 2, 3],
    [[trade(1), trade(2), trade(3), trade(5)], 1, 1],
    // It lacks the one that was sent.
    [[trade(1), trade(5)], 2, 1],
    [[trade(5)], 2, 0],
  ]
  for (const [changes, sent, expected] of cases) {
    const served = logOf('two', [...SENT, sampleSet(3, changes)])
    assert.equal((await translate(placeIn('one', 2, sent), source, served))?.published, expected)
  }
})

test('unknown: a position that the log never had, or a set that it has dropped', async () => {
  const served = logOf('two', [...SENT, sampleSet(3, [trade(1)])])
  for (const standing of ['foreign', 'ahead'] as const)
    assert.equal(await translate(placeIn('one', 2), logOf('one', SENT, 0, standing), served), undefined)
  const dropped = logOf('one', SENT, 0, 'dropped')
  assert.equal((await translate(placeIn('one', 2), dropped, served))?.after.epoch, 'two')
  assert.equal(await translate(placeIn('one', 2, 1), dropped, served), undefined)
})

test('a generation that is behind the place is waited for', async () => {
  const [source, served] = [logOf('one', SENT), logOf('two', SENT)]
  let end = 0
  setTimeout(() => {
    end = 2
  }, 30)
  const { signal } = new AbortController()
  const place = placeIn('one', 2)
  const found = await translatePlace(place, {
    source,
    served,
    placeAt: () => undefined,
    end: () => end,
    signal,
  })
  assert.deepEqual([found?.after.epoch, found?.seq], ['two', 2])
})
