import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamError } from '../src/index.ts'
import { begin, gateway, open, PAIR, until } from './stream-rig.ts'

test('a shutdown hint decides the delay', async () => {
  const delays: number[] = []
  const stream = open({ onReconnect: ({ delayMs }) => void delays.push(delayMs) }).trades(PAIR)
  const { first } = await begin(stream)
  gateway.broadcast({ method: 'shutdown', params: [{ reconnect_after_ms: 321 }] })
  gateway.closeAll(1001)
  await until('it is back', () => gateway.subscribes.length === 2)
  gateway.trade()
  await first
  assert.deepEqual(delays, [321])
})

test('one socket has many subscriptions; more are spread over several, within the limits', async () => {
  const streams = open({
    limits: { messagesPerSecond: 1_000, subscriptionsPerConnection: 2, connections: 3 },
  })
  const all = ['a', 'b', 'c', 'd'].map((pair) => streams.trades(`${pair}-eth`))
  for (const stream of all) void stream.next()
  await until('all are subscribed', () => gateway.subscribes.length === 4)
  assert.deepEqual([streams.sockets, gateway.connections], [2, 2])
  // A socket can have a topic only once.
  void streams.trades('a-eth').next()
  await until('it is subscribed', () => gateway.subscribes.length === 5)
  assert.equal(streams.sockets, 3)
  void streams.trades('e-eth').next()
  await assert.rejects(
    streams.trades('f-eth').next(),
    (error) => error instanceof StreamError && error.code === 'limit_exceeded',
  )
  await all[0]?.return()
  await all[1]?.return()
  await until('the empty socket is closed', () => streams.sockets === 2)
})

test('ids of prices and series of candles are spread over subscriptions', async () => {
  const streams = open({ limits: { messagesPerSecond: 1_000, priceIds: 2, multiKlinePairs: 1 } })
  void streams.prices(['0xAB-eth', 'c-eth', '0xab-eth', 'd-eth']).next()
  void streams
    .candlesOf([
      ['a-eth', 'k1'],
      ['b-eth', 'k5'],
    ])
    .next()
  await until('all are subscribed', () => gateway.subscribes.length === 4)
  assert.deepEqual(
    gateway.subscribes.map(({ params }) => params.slice(0, -1)),
    [
      ['price', ['0xab-eth', 'c-eth']],
      ['price', ['d-eth']],
      ['multi_kline', ['a', 'k1', 'eth']],
      ['multi_kline', ['b', 'k5', 'eth']],
    ],
  )
})

test('requests stay below the rate of the plan', async () => {
  const streams = open({ limits: { messagesPerSecond: 10 } })
  const begun = Date.now()
  for (let pair = 0; pair < 14; pair++) void streams.trades(`p${pair}-eth`).next()
  await until('all are subscribed', () => gateway.subscribes.length === 14)
  assert.ok(Date.now() - begun >= 500, `${Date.now() - begun} ms`)
})

test('a connection that is silent is dropped', async () => {
  const codes: number[] = []
  const stream = open({ silenceMs: 60, onReconnect: ({ code }) => void codes.push(code) }).trades(PAIR)
  const { first } = await begin(stream)
  gateway.isSilent = true
  await until('it is dropped', () => codes.length > 0)
  gateway.isSilent = false
  await until('it is back', () => gateway.subscribes.length > 1)
  gateway.trade()
  assert.equal(await first, 's1')
})

test('a connection that is closed at once is reopened ever more slowly; one that was useful is not', async () => {
  const delays: number[] = []
  const streams = open({ onReconnect: ({ delayMs }) => void delays.push(delayMs) })
  const { first } = await begin(streams.trades(PAIR))
  for (let round = 1; round <= 3; round++) {
    gateway.closeAll(1011)
    await until('it is back', () => gateway.subscribes.length > round)
  }
  gateway.trade()
  await first
  gateway.closeAll(4408)
  await until('it is back', () => gateway.subscribes.length === 5)
  const steps = [250, 500, 1_000, 250]
  for (const [index, step] of steps.entries()) {
    const delay = delays[index] ?? 0
    assert.ok(delay >= step / 2 && delay <= step, `${delay} ms at ${index}`)
  }
})

test('a refused key ends every stream', async () => {
  const stream = open().trades(PAIR)
  const { first } = await begin(stream)
  gateway.closeAll(4403)
  await assert.rejects(first, (error) => error instanceof StreamError && error.code === 'unauthorized')
})

test('a socket that was not authenticated in time is reopened; an invalid key ends every stream', async () => {
  const stream = open().trades(PAIR)
  gateway.isSilent = true
  const first = stream.next().then(({ value }) => value?.id)
  await until('it is connected', () => gateway.connections === 1)
  gateway.closeAll(4401)
  gateway.isSilent = false
  await until('it is back', () => gateway.subscribes.length === 1)
  gateway.trade()
  assert.equal(await first, 's1')
  gateway.hasKey = false
  await assert.rejects(
    open().trades(PAIR).next(),
    (error) => error instanceof StreamError && error.code === 'unauthorized',
  )
})
