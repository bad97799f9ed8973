import assert from 'node:assert/strict'
import test from 'node:test'
import { originOf, readFrames } from '../../../../test/support/rigs/fake-session.ts'
import { formatCursor, parseCursor } from '../cursor.ts'
import { PushEvent, type PushParts, type Shape } from '../send/push-event.ts'
import { NO_OPTIONS, type TopicOptions } from '../topic.ts'
import type { Source } from './sources.ts'
import { Subscription } from './subscription.ts'

type Shown = { seq?: number; cursor?: string; result: { at: string; revised?: boolean } }

function start(
  options: Partial<TopicOptions> = {},
  maxHeldBytes = 1_000_000,
  sources: readonly Source[] = [],
) {
  const sent: Shown[] = []
  const counts = { overflows: 0 }
  const subscription = new Subscription(
    7,
    1,
    { identity: 'all', name: 'tx', sources },
    { ...NO_OPTIONS, ...options },
    {
      send: (framer, _key, event) => sent.push(JSON.parse(readFrames(framer.frameOf(event)).join()) as Shown),
      onOverflow: () => counts.overflows++,
      maxHeldBytes,
      isCompressed: false,
    },
  )
  return { subscription, sent, counts, published: () => sent.map(({ result }) => result.at) }
}

function event(seq: number, published = 1, chain = 'eth', shape: Shape = 'document'): PushEvent {
  const parts: PushParts = {
    topic: 'tx',
    place: { chain, seq, origin: originOf({ seq }), published },
    isState: false,
    sentTime: 1,
    build: () => ({
      at: `${chain} ${seq}.${published}`,
      ...(shape === 'revised' ? { revised: true } : {}),
    }),
  }
  return new PushEvent(parts, shape)
}

const end = (seq: number, published: number, chain = 'eth') => ({
  ...{ chain, seq, published },
  origin: originOf({ seq }),
})
const placeAt = (seq: number, published = 0) => ({ ...originOf({ seq }), published })

test('held back until released, then only what is newer than the snapshot of its key', () => {
  const { subscription, published } = start()
  for (const seq of [5, 6]) for (const key of ['a', 'b']) subscription.offer(key, event(seq))
  assert.deepEqual(published(), [])
  subscription.skipUpTo('a', 5)
  subscription.release()
  subscription.offer('a', event(5))
  assert.deepEqual(published(), ['eth 5.1', 'eth 6.1', 'eth 6.1', 'eth 5.1'])
})

test('pushes of a key are skipped only while older ones than the snapshot may come', () => {
  const { subscription, published } = start()
  subscription.skipUpTo('a', 7)
  subscription.skipUpTo('b', 5)
  subscription.release()
  for (const key of ['a', 'b', 'c']) subscription.expectAfter(key, 5)
  for (const seq of [6, 7, 8]) for (const key of ['a', 'b']) subscription.offer(key, event(seq))
  assert.deepEqual(published(), ['eth 6.1', 'eth 7.1', 'eth 8.1', 'eth 8.1'])
})

test('held-back pushes are bounded', () => {
  const { subscription, counts } = start({}, 3 * event(1).size)
  for (let seq = 1; seq <= 4; seq++) subscription.offer('a', event(seq))
  assert.equal(counts.overflows, 1)
})

test('catching up: pushes of the chain are passed over until the place is reached, those of others are not', () => {
  const { subscription, published } = start()
  subscription.offer('a', event(4))
  subscription.beginCatchUp(['eth'])
  subscription.offer('a', event(5))
  subscription.offer('a', event(5, 1, 'bsc'))
  subscription.push('a', event(3))
  subscription.endCatchUp('eth', placeAt(6, 2))
  for (const [seq, index] of [
    [5, 9],
    [6, 1],
    [6, 2],
    [6, 3],
    [7, 1],
  ] as const) {
    subscription.offer('a', event(seq, index))
  }
  assert.deepEqual(published(), ['bsc 5.1', 'eth 3.1', 'eth 6.3', 'eth 7.1'])
})

test('caught up without a place to wait for: everything passes', () => {
  const { subscription, published } = start()
  subscription.beginCatchUp(['eth', 'bsc'])
  subscription.endCatchUp('eth', undefined)
  for (const chain of ['eth', 'bsc']) subscription.offer('a', event(5, 1, chain))
  subscription.endCatchUp('bsc', undefined)
  for (const chain of ['eth', 'bsc']) subscription.offer('a', event(4, 1, chain))
  assert.deepEqual(published(), ['eth 5.1', 'eth 4.1', 'bsc 4.1'])
})

test('numbers are contiguous, and each cursor says where every chain stands', () => {
  const { subscription, sent } = start({ cursor: true, reorg: true })
  subscription.startAt('eth', placeAt(2))
  subscription.startAt('bsc', placeAt(9))
  subscription.release()
  subscription.offer('a', event(3, 2, 'eth', subscription.shape))
  subscription.offer('a', event(10, 1, 'bsc', subscription.shape))
  assert.deepEqual(
    sent.map(({ seq, result }) => [seq, result.revised]),
    [
      [1, true],
      [2, true],
    ],
  )
  assert.deepEqual(
    sent.map(({ cursor }) => parseCursor(cursor ?? '')),
    [
      new Map([
        ['eth', placeAt(3, 2)],
        ['bsc', placeAt(9)],
      ]),
      new Map([
        ['eth', placeAt(3, 2)],
        ['bsc', placeAt(10, 1)],
      ]),
    ],
  )
  assert.equal(sent[1]?.cursor, formatCursor(parseCursor(sent[1]?.cursor ?? '') ?? new Map()))
})

test('checkpoint: only if nothing was pushed since the last look, and only forwards', () => {
  const { subscription, sent } = start({ cursor: true, checkpoint: true })
  const ends = new Map([
    ['eth', end(3, 2, 'eth')],
    ['bsc', end(8, 1, 'bsc')],
  ])
  const look = () => subscription.checkpoint((chain) => ends.get(chain), 9)
  const cursors = () => sent.splice(0).map(({ cursor, result }) => [result, parseCursor(cursor ?? '')])
  const checkpoint = { topic: 'checkpoint' }
  look()
  subscription.startAt('eth', placeAt(3, 2))
  subscription.startAt('bsc', placeAt(9))
  subscription.startAt('sol', placeAt(2))
  subscription.release()
  // Neither chain has a set that the places lack.
  look()
  assert.deepEqual(sent, [])
  ends.set('eth', end(5, 4, 'eth'))
  look()
  const first = new Map([
    ['eth', placeAt(5, 4)],
    ['bsc', placeAt(9)],
    ['sol', placeAt(2)],
  ])
  assert.deepEqual(cursors(), [[checkpoint, first]])
  // That was not counted as a push; this one is.
  ends.set('bsc', end(10, 1, 'bsc'))
  look()
  const second = new Map(first).set('bsc', placeAt(10, 1))
  assert.deepEqual(cursors(), [[checkpoint, second]])
  subscription.offer('a', event(6, 1, 'eth', subscription.shape))
  sent.length = 0
  ends.set('eth', end(7, 2, 'eth'))
  look()
  assert.deepEqual(sent, [])
  look()
  assert.deepEqual(cursors(), [[checkpoint, new Map(second).set('eth', placeAt(7, 2))]])
  look()
  assert.deepEqual(sent, [])
})

test('checkpoint: none while pushes are held back or the chain is being caught up with', () => {
  const { subscription, sent } = start({ cursor: true, checkpoint: true })
  let last = end(8, 1)
  const look = () => subscription.checkpoint(() => last, 9)
  subscription.startAt('eth', placeAt(3))
  look()
  subscription.beginCatchUp(['eth'])
  look()
  subscription.endCatchUp('eth', placeAt(9, 1))
  look()
  assert.deepEqual(sent, [])
  // What the replay was ahead of has come, and none of it was for this subscription.
  last = end(9, 1)
  look()
  assert.equal(sent.length, 1)
  subscription.offer('a', event(10, 1, 'eth', subscription.shape))
  assert.equal(sent.length, 2)
})

test('checkpoint: a snapshot that was ahead of the feed does not keep it back for good', () => {
  const source = { kind: 'event', key: 'a', chain: 'eth' } as const
  const { subscription, sent } = start({ cursor: true, checkpoint: true }, 1_000, [source])
  subscription.startAt('eth', placeAt(3))
  subscription.skipUpTo('a', 7)
  subscription.release()
  subscription.checkpoint(() => end(6, 1), 9)
  assert.deepEqual(sent, [])
  subscription.checkpoint(() => end(7, 1), 9)
  assert.equal(sent.length, 1)
})

test('no checkpoints without the option', () => {
  const { subscription, sent } = start({ cursor: true })
  subscription.startAt('eth', placeAt(3))
  subscription.release()
  subscription.checkpoint(() => end(9, 1), 9)
  assert.deepEqual(sent, [])
})

test('without options a push is exactly the envelope of the document', () => {
  const { subscription, sent } = start()
  subscription.release()
  subscription.offer('a', event(3))
  assert.deepEqual(sent, [{ id: 7, jsonrpc: '2.0', result: { at: 'eth 3.1' }, sent_time: 1 }])
})
