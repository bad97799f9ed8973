import assert from 'node:assert/strict'
import test from 'node:test'
import { Registry } from 'prom-client'
import { FakeStream, originOf } from '../../../../test/support/rigs/fake-session.ts'
import { createGatewayMetrics } from '../../http/metrics.ts'
import { Flusher } from './flusher.ts'
import { textFrame } from './frame.ts'
import { PushEvent } from './push-event.ts'
import { type Framer, SendQueue } from './send-queue.ts'

const CONGESTED = 128 * 1_024

function start(maxBytes = 1_000_000, flusher: Pick<Flusher, 'wake'> = { wake: () => undefined }) {
  const stream = new FakeStream()
  const counts = { overflows: 0, conflations: 0 }
  const state = { isOpen: true, onOverflow: () => counts.overflows++ }
  const { conflations } = createGatewayMetrics(new Registry())
  conflations.inc = () => counts.conflations++
  const options = { limits: { maxBufferedBytes: maxBytes }, metrics: { conflations }, flusher }
  const queue = new SendQueue(stream, state, options)
  return { stream, counts, state, queue }
}

function framer(serial: number): Framer {
  return { serial, frameOf: (event) => event.frame(serial) }
}

function event(text: string, isState = true, candle?: number): PushEvent {
  const place = { chain: 'eth', seq: 1, origin: originOf({ seq: 1 }), published: 1 }
  const build = () => ({ text })
  return new PushEvent({ topic: 'price', place, isState, candle, sentTime: undefined, build }, 'document')
}

const shown = ({ texts }: FakeStream) =>
  texts.map((text) => {
    const { id, result } = JSON.parse(text) as { id: number; result: { text: string } }
    return `${id} ${result.text}`
  })

test('pushes of one turn are written together, in order and completely', () => {
  const { stream, counts, queue } = start()
  for (const text of ['a', 'b']) queue.push(framer(1), 'key', event(text))
  queue.push(framer(1), 'other', event('c', false))
  assert.equal(stream.writes, 0)
  queue.flush()
  queue.flush()
  assert.deepEqual([stream.writes, counts.conflations], [1, 0])
  assert.deepEqual(shown(stream), ['1 a', '1 b', '1 c'])
})

test('a reader that lags: of each state the newest waits, events all wait, and the order is that of the news', () => {
  const { stream, counts, queue } = start()
  queue.push(framer(1), 'key', event('sent'))
  stream.writableLength = CONGESTED
  queue.flush()
  queue.push(framer(1), 'a', event('a1'))
  queue.push(framer(2), 'a', event('of another subscription'))
  queue.push(framer(1), 'b', event('b1'))
  queue.push(framer(1), 'events', event('e1', false))
  queue.push(framer(1), 'a', event('a2'))
  queue.push(framer(1), 'events', event('e2', false))
  queue.push(framer(1), 'a', event('a3'))
  queue.flush()
  assert.equal(stream.writes, 1)
  stream.drain()
  assert.deepEqual(shown(stream), ['1 sent', '2 of another subscription', '1 b1', '1 e1', '1 e2', '1 a3'])
  assert.deepEqual([stream.writes, counts.conflations, queue.bufferedBytes], [2, 2, 0])
  // Caught up: nothing is left out any more.
  for (const text of ['a4', 'a5']) queue.push(framer(1), 'a', event(text))
  queue.flush()
  assert.deepEqual(shown(stream).slice(-2), ['1 a4', '1 a5'])
})

test('a lagging client gets the latest version of each candle, not only of the latest candle', () => {
  const { stream, counts, queue } = start()
  queue.push(framer(1), 'key', event('sent'))
  stream.writableLength = CONGESTED
  queue.flush()
  queue.push(framer(1), 'key', event('first minute opens', true, 60))
  queue.push(framer(1), 'key', event('first minute closes', true, 60))
  queue.push(framer(1), 'key', event('second minute', true, 120))
  stream.drain()
  assert.deepEqual(shown(stream), ['1 sent', '1 first minute closes', '1 second minute'])
  assert.equal(counts.conflations, 1)
})

test('a reader that lags for long waits for no more than the newest states and all events, in their order', () => {
  const { stream, counts, queue } = start()
  queue.push(framer(1), 'key', event('sent'))
  stream.writableLength = CONGESTED
  queue.flush()
  const rounds = 2_500
  for (let i = 0; i < rounds; i++) {
    for (const key of ['a', 'b']) queue.push(framer(1), key, event(`${key}${i}`))
    if (i % 1_000 === 0) queue.push(framer(1), 'events', event(`e${i}`, false))
  }
  const last = rounds - 1
  const expected = ['1 e0', '1 e1000', '1 e2000', `1 a${last}`, `1 b${last}`]
  const bytes = expected.map((text) => event(text.slice(2)).size).reduce((sum, each) => sum + each)
  assert.equal(queue.bufferedBytes - CONGESTED, bytes)
  stream.drain()
  assert.deepEqual(shown(stream).slice(1), expected)
  assert.deepEqual([counts.conflations, counts.overflows], [2 * last, 0])
})

test('the limit counts what the kernel has not taken and what waits; a state that is replaced counts once', () => {
  const one = event('x'.repeat(1_000)).size
  const { stream, counts, queue } = start(CONGESTED + 3 * one)
  queue.push(framer(1), 'key', event('x'))
  stream.writableLength = CONGESTED
  queue.flush()
  for (let i = 0; i < 10; i++) queue.push(framer(1), 'a', event('x'.repeat(1_000)))
  assert.deepEqual([queue.bufferedBytes, counts.overflows], [CONGESTED + one, 0])
  for (let i = 0; i < 2; i++) queue.push(framer(1), 'e', event('x'.repeat(1_000), false))
  assert.equal(counts.overflows, 0)
  queue.push(framer(1), 'e', event('', false))
  assert.equal(counts.overflows, 1)
  queue.sendFrame(textFrame('answer'))
  assert.equal(counts.overflows, 2)
})

test('drained: at once while the reader keeps up, else when it has taken everything, or is gone', async () => {
  const { stream, queue } = start()
  await queue.drained()
  stream.writableLength = CONGESTED
  queue.push(framer(1), 'key', event('a'))
  let isDrained = false
  const drained = queue.drained().then(() => {
    isDrained = true
  })
  await Promise.resolve()
  assert.deepEqual([isDrained, stream.writes], [false, 1])
  stream.drain()
  await drained
  stream.writableLength = CONGESTED
  queue.push(framer(1), 'key', event('b'))
  const gone = queue.drained()
  queue.close()
  await gone
})

test('nothing is written after a close frame of either side', () => {
  const { stream, state, queue } = start()
  queue.push(framer(1), 'key', event('a'))
  state.isOpen = false
  queue.flush()
  assert.equal(stream.writes, 0)
  state.isOpen = true
  queue.close()
  queue.push(framer(1), 'key', event('b'))
  queue.sendFrame(textFrame('answer'))
  queue.flush()
  assert.equal(stream.writes, 0)
})

test('each socket is written to once after a turn, however often it was woken', async () => {
  const flusher = new Flusher()
  const all = [start(1_000_000, flusher), start(1_000_000, flusher)]
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  for (const text of ['a', 'b']) for (const { queue } of all) queue.push(framer(1), 'key', event(text, false))
  const writes = () => all.map(({ stream }) => stream.writes)
  assert.deepEqual(writes(), [0, 0])
  await turn()
  assert.deepEqual(writes(), [1, 1])
  all[0]?.queue.push(framer(1), 'key', event('c', false))
  await turn()
  assert.deepEqual(writes(), [2, 1])
  const shownByBoth = all.map(({ stream }) => shown(stream))
  assert.deepEqual(shownByBoth, [
    ['1 a', '1 b', '1 c'],
    ['1 a', '1 b'],
  ])
})

test('sockets share what they join only if all of it is the same', async () => {
  const flusher = new Flusher()
  const [one, other, third] = [1, 2, 3].map(() => start(1_000_000, flusher))
  const [a, b, c] = ['a', 'b', 'c'].map((text) => event(text, false))
  assert.ok(one && other && third && a && b && c)
  for (const each of [a, b]) one.queue.push(framer(1), 'key', each)
  for (const each of [a, b, c]) other.queue.push(framer(1), 'key', each)
  for (const each of [a, b]) third.queue.push(framer(1), 'key', each)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    [one, other, third].map(({ stream }) => shown(stream)),
    [
      ['1 a', '1 b'],
      ['1 a', '1 b', '1 c'],
      ['1 a', '1 b'],
    ],
  )
})
