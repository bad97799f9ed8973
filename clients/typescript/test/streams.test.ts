import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRetraction, memoryCursors, StreamError } from '../src/index.ts'
import { send } from './scripted-gateway.ts'
import { begin, gateway, open, PAIR, take, until } from './stream-rig.ts'

function lastOptions(): unknown {
  return gateway.subscribes.at(-1)?.params.at(-1)
}

test('a stream resumes after the last swap that it received, whenever its connection is cut', async () => {
  const stream = open().trades(PAIR)
  const { first } = await begin(stream)
  gateway.trade()
  assert.equal(await first, 's1')
  for (let cut = 0; cut < 5; cut++) {
    gateway.trade(2)
    gateway.cut()
    gateway.trade(2)
  }
  const expected = Array.from({ length: 20 }, (_, index) => `s${index + 2}`)
  assert.deepEqual(await take(stream, 20), expected)
  assert.equal(stream.cursor, '21')
})

test('a missing number is noticed, and the stream resumes before it', async () => {
  const stream = open().trades(PAIR)
  const { first } = await begin(stream)
  gateway.trade()
  await first
  gateway.skipNumber()
  gateway.trade(3)
  assert.deepEqual(await take(stream, 3), ['s2', 's3', 's4'])
  assert.deepEqual(lastOptions(), { reorg: true, checkpoint: true, from: '1' })
})

test('refusals that pass are retried; others end the stream with their code', async () => {
  const passing = [
    { code: -32_004, message: 'too many messages' },
    { code: -32_603, message: 'internal error; retry' },
    { code: -32_002, message: 'replays', data: { limit: 'replays' } },
    {
      code: -32_003,
      message: 'unknown',
      data: { rejected: [{ item: 'x', reason: 'unknown_pair', pending: true }] },
    },
  ]
  gateway.intercept = ({ id }, socket) => {
    const error = passing.shift()
    if (error !== undefined) send(socket, { id, error })
    return error !== undefined
  }
  const stream = open().trades(PAIR)
  const first = stream.next()
  await until('all refusals were retried', () => gateway.subscribes.length === 5)
  await until('it is delivered', () => {
    gateway.trade()
    return gateway.subscribes.length === 5
  })
  assert.equal((await first).done, false)
  const fatal = [
    { code: -32_003, message: 'unknown pair', data: { rejected: [{ item: 'x', reason: 'unknown_pair' }] } },
    { code: -32_006, message: 'no credit units left' },
  ]
  for (const [error, code] of [
    [fatal[0], 'unknown_subject'],
    [fatal[1], 'quota_exhausted'],
  ] as const) {
    gateway.intercept = ({ id }, socket) => {
      send(socket, { id, error })
      return true
    }
    await assert.rejects(
      open().trades(PAIR).next(),
      (caught) => caught instanceof StreamError && caught.code === code,
    )
  }
})

test('a slow consumer of events pauses its subscription, and misses nothing', async () => {
  const stream = open().trades(PAIR, { bufferSize: 8 })
  const { first } = await begin(stream)
  gateway.trade(30)
  await until('it is paused', () => gateway.requests.some(({ method }) => method === 'unsubscribe'))
  gateway.trade(70)
  const ids = [await first, ...(await take(stream, 99))]
  assert.deepEqual(
    ids,
    Array.from({ length: 100 }, (_, index) => `s${index + 1}`),
  )
  assert.equal(stream.dropped, 0)
})

test('a slow consumer of states gets the latest of each', async () => {
  const stream = open().prices(['a-eth', 'b-eth'], { bufferSize: 2 })
  const first = stream.next()
  await until('it is subscribed', () => gateway.subscribes.length === 1)
  const entry = (pair: string, uprice: string) => ({ chain: 'eth', pair, target_token: 't', uprice })
  await until('the first push arrives', () => {
    gateway.push({ topic: 'price', prices: [entry('a', '0')] })
    return true
  })
  await first
  const prices = ['a1', 'b1', 'a2', 'c1', 'b2'].map((text) => entry(text[0] ?? '', text[1] ?? ''))
  gateway.push({ topic: 'price', prices })
  await until('all have arrived', () => stream.dropped === 2)
  const seen = [(await stream.next()).value, (await stream.next()).value]
  assert.deepEqual(
    seen.map((each) => `${each?.pair}${each?.uprice}`),
    ['c1', 'b2'],
  )
})

test('the cursor is stored once an item was processed, and a new stream continues there', async () => {
  const cursors = memoryCursors()
  const stream = open({ cursors }).trades(PAIR, { name: 'tape' })
  const { first } = await begin(stream)
  gateway.trade(5)
  await first
  await take(stream, 2)
  // The third one is still being processed.
  assert.equal(await cursors.get('tape'), '2')
  await stream.commit()
  assert.equal(await cursors.get('tape'), '3')
  stream.close()
  assert.deepEqual(await take(open({ cursors }).trades(PAIR, { name: 'tape' }), 2), ['s4', 's5'])
})

test('a checkpoint moves the cursor of a consumer that waits, not of one that is still at work', async () => {
  const cursors = memoryCursors()
  const stream = open({ cursors }).trades(PAIR, { name: 'tape' })
  const { first } = await begin(stream)
  gateway.trade()
  await first
  gateway.push({ topic: 'checkpoint' })
  gateway.trade()
  assert.deepEqual(await take(stream, 1), ['s2'])
  assert.equal(await cursors.get('tape'), '1')
  const next = stream.next()
  gateway.checkpoint('7')
  await until('it is stored', () => cursors.get('tape') === '7')
  gateway.cut()
  await until('it has resumed', () => gateway.subscribes.length === 2)
  assert.deepEqual(lastOptions(), { reorg: true, checkpoint: true, from: '7' })
  stream.close()
  assert.equal((await next).done, true)
})

test('retractions are hidden unless they are asked for', async () => {
  const streams = open()
  const whole = streams.trades(PAIR, { retractions: true })
  const plain = streams.trades(PAIR)
  const items = [whole.next(), whole.next()]
  const { first } = await begin(plain)
  await until('both are subscribed', () => gateway.subscribes.length === 2)
  gateway.push({ topic: 'revert', id: 'pair', ids: ['s0'] })
  gateway.trade()
  assert.equal(await first, 's1')
  const [retraction, trade] = (await Promise.all(items)).map(({ value }) => value)
  assert.ok(retraction !== undefined && isRetraction(retraction))
  assert.deepEqual(retraction, { pair: 'pair', retracted: ['s0'] })
  assert.ok(trade !== undefined && !isRetraction(trade))
  assert.equal(trade.id, 's1')
})

test('what a callback throws ends its stream, and no other', async () => {
  const thrown = new Error('from the callback')
  const fail = (): never => {
    throw thrown
  }
  const streams = open()
  const other = streams.trades('other-eth')
  const { first } = await begin(other)
  const switched = streams.candles(PAIR, 'k1', { onMainPairSwitch: fail }).next()
  await until('it is subscribed', () => gateway.subscribes.length === 2)
  gateway.push({ topic: 'switch_main_pair', data: {} })
  await assert.rejects(switched, thrown)
  gateway.intercept = (request, socket) => {
    if ((request.params.at(-1) as { from?: string }).from === undefined) return false
    gateway.acknowledge(socket, request, { cursor: '0', recovered: false })
    return true
  }
  await assert.rejects(streams.trades(PAIR, { resumeFrom: '0', onGap: fail }).next(), thrown)
  gateway.intercept = (request, socket) => {
    gateway.acknowledge(socket, request, { cursor: '0', rejected: [{ item: 'x', reason: 'unknown_pair' }] })
    return true
  }
  await assert.rejects(streams.trades(PAIR, { onRejected: fail }).next(), thrown)
  gateway.trade()
  assert.equal(await first, 's1')
})

test('a store that throws ends the stream', async () => {
  const thrown = new Error('storage is full')
  const set = (): never => {
    throw thrown
  }
  const stream = open().trades(PAIR, { cursors: { get: () => undefined, set } })
  const { first } = await begin(stream)
  gateway.trade()
  await first
  await assert.rejects(stream.commit(), thrown)
  await assert.rejects(stream.next(), thrown)
  assert.equal((await stream.next()).done, true)
})

test('a signal ends a stream at once', async () => {
  const controller = new AbortController()
  const stream = open().trades(PAIR, { signal: controller.signal })
  const { first } = await begin(stream)
  gateway.trade(5)
  await first
  const reason = new Error('enough')
  controller.abort(reason)
  await assert.rejects(stream.next(), reason)
  assert.equal((await stream.next()).done, true)
})
