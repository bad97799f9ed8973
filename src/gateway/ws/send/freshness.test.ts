import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { FakeStream, originOf } from '../../../../test/support/rigs/fake-session.ts'
import { createGatewayMetrics } from '../../http/metrics.ts'
import { textFrame } from './frame.ts'
import { Freshness, type LiveBlock } from './freshness.ts'
import { PushEvent } from './push-event.ts'
import { SendQueue } from './send-queue.ts'

const head = { number: 7, hash: '0x7', time: 1_700_000_000 }
const set = { chain: 'eth', cause: 'block' as const, head }
const BLOCK_TIME = head.time * 1_000

function setup() {
  const registry = new Registry()
  const metrics = createGatewayMetrics(registry)
  const freshness = new Freshness(metrics, () => BLOCK_TIME + 2_000)
  const countOf = async (): Promise<number[]> => {
    const text = await registry.metrics()
    return Array.from(text.matchAll(/_to_push_seconds_count\{chain="eth"\} (\d+)/g), ([, count]) =>
      Number(count),
    )
  }
  const open = () => {
    const stream = new FakeStream()
    const owner = { isOpen: true, onOverflow: () => assert.fail('overflow') }
    const queue = new SendQueue(stream, owner, {
      limits: { maxBufferedBytes: 1_000_000 },
      metrics,
      flusher: { wake: () => undefined },
    })
    return { stream, queue }
  }
  return { registry, freshness, countOf, open }
}

function pushOf(live: LiveBlock | undefined): PushEvent {
  const place = { chain: 'eth', seq: 1, origin: originOf({ seq: 1 }), published: 1 }
  const parts = { topic: 'tx', place, isState: false, sentTime: undefined, live, build: () => ({}) } as const
  return new PushEvent(parts, 'document')
}

const framer = { serial: 1, frameOf: (event: PushEvent) => event.frame(1) }

test('times of a live block, from its timestamp and from its announcement', async () => {
  const { registry, freshness } = setup()
  const block = freshness.liveBlock(set, BLOCK_TIME + 400, true)
  block?.written(BLOCK_TIME + 460)
  block?.written(BLOCK_TIME + 500)
  const text = await registry.metrics()
  assert.match(text, /block_to_push_seconds_bucket\{le="0.25",chain="eth"\} 0\n.*le="0.5",chain="eth"\} 2\n/)
  assert.match(text, /chaintape_gateway_block_to_push_seconds_sum\{chain="eth"\} 0.96\n/)
  assert.match(
    text,
    /announcement_to_push_seconds_bucket\{le="0.05",chain="eth"\} 0\n.*le="0.1",chain="eth"\} 2\n/,
  )
  const { fromBlock, fromAnnouncement } = freshness.of('eth') ?? assert.fail('no delays')
  assert.ok(Math.abs(fromBlock.p99 - 500) <= 25, JSON.stringify(fromBlock))
  assert.ok(Math.abs(fromAnnouncement.p50 - 60) <= 3, JSON.stringify(fromAnnouncement))
})

test('a block that was not announced, an undo, and a gateway that catches up are not live', () => {
  const { freshness } = setup()
  assert.equal(freshness.liveBlock(set, undefined, true), undefined)
  assert.equal(freshness.liveBlock({ ...set, cause: 'undo' }, BLOCK_TIME, true), undefined)
  assert.equal(freshness.liveBlock(set, BLOCK_TIME, false), undefined)
  assert.equal(freshness.of('eth'), undefined)
})

test('clocks that differ give no negative times', () => {
  const { freshness } = setup()
  freshness.liveBlock(set, BLOCK_TIME + 1_500, true)?.written(BLOCK_TIME - 200)
  assert.deepEqual(freshness.of('eth'), {
    fromBlock: { p50: 1, p99: 1 },
    fromAnnouncement: { p50: 1, p99: 1 },
  })
})

test('a write counts once per block and socket, however many pushes it has', async () => {
  const { freshness, countOf, open } = setup()
  const [one, other] = [1, 2].map(() => freshness.liveBlock(set, BLOCK_TIME, true))
  for (const { queue } of [open(), open()]) {
    queue.sendFrame(textFrame('an answer'))
    for (const block of [one, one, other, undefined, other]) queue.push(framer, 'key', pushOf(block))
    queue.flush()
  }
  assert.deepEqual(await countOf(), [4, 4])
})

test('snapshots and replays do not count, and a slow client counts when it is written to', async () => {
  const { freshness, countOf, open } = setup()
  const { stream, queue } = open()
  queue.push(framer, 'key', pushOf(undefined))
  stream.writableLength = 128 * 1_024
  queue.flush()
  queue.push(framer, 'key', pushOf(freshness.liveBlock(set, BLOCK_TIME, true)))
  queue.flush()
  assert.deepEqual(await countOf(), [])
  stream.drain()
  assert.deepEqual(await countOf(), [1, 1])
})
