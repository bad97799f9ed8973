import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import {
  createRest,
  createStreams,
  type Gap,
  GapError,
  isRetraction,
  memoryCursors,
  type Stream,
  StreamError,
  type Streams,
  type StreamsOptions,
  type Trade,
} from '../src/index.ts'
import { type Request, ScriptedGateway, send } from './scripted-gateway.ts'

const PAIR = 'pair-eth'

let gateway: ScriptedGateway
const opened: Streams[] = []

beforeEach(async () => {
  gateway = await ScriptedGateway.start()
})

afterEach(async () => {
  for (const streams of opened.splice(0)) streams.closeStreams()
  await gateway.stop()
})

function open(options: Partial<StreamsOptions> = {}): Streams {
  const all = { url: gateway.url, key: 'key', WebSocket, limits: { messagesPerSecond: 1_000 }, ...options }
  const streams = createStreams(all, createRest(all))
  opened.push(streams)
  return streams
}

async function until(what: string, check: () => boolean): Promise<void> {
  const end = Date.now() + 30_000
  while (!check()) {
    if (Date.now() > end) throw new Error(`waited too long until ${what}`)
    await sleep(5)
  }
}

async function take(stream: Stream<Trade>, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const { value } = await stream.next()
    ids.push(value?.id ?? 'end')
  }
  return ids
}

/** Begins to read a stream, and waits until the gateway has its subscription. */
async function begin(stream: Stream<Trade>): Promise<{ readonly first: Promise<string> }> {
  const before = gateway.subscribes.length
  const first = stream.next().then(({ value }) => value?.id ?? 'end')
  await until('the stream is subscribed', () => gateway.subscribes.length > before)
  return { first }
}

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
  assert.deepEqual(lastOptions(), { reorg: true, from: '1' })
})

test('a gap is reported where it is, or ends the stream', async () => {
  const gaps: Gap[] = []
  const loses = (request: Request, socket: WebSocket): boolean => {
    const { from } = request.params.at(-1) as { from?: string }
    if (from === undefined) return false
    const reason = { code: -32_005, message: 'not retained any more' }
    gateway.acknowledge(socket, request, { cursor: String(gateway.count), recovered: false, reason })
    gateway.listen(socket, request, gateway.connections, gateway.count)
    return true
  }
  for (const onGap of [(gap: Gap) => void gaps.push(gap), undefined]) {
    gateway.intercept = () => false
    const stream = open({ onGap }).trades(PAIR, { name: 'mine' })
    const { first } = await begin(stream)
    gateway.trade()
    await first
    const id = gateway.subscribes.length
    gateway.intercept = loses
    gateway.cut()
    gateway.trade(2)
    await until('it has resumed', () => gateway.subscribes.length > id)
    gateway.trade()
    if (onGap !== undefined) {
      assert.deepEqual(await take(stream, 1), ['s4'])
      assert.deepEqual([gaps.length, gaps[0]?.stream, gaps[0]?.reason], [1, 'mine', 'cursor_too_old'])
      assert.deepEqual([gaps[0]?.lostAfter, gaps[0]?.resumedAt], ['1', '3'])
      stream.close()
    } else {
      await assert.rejects(stream.next(), (error) => error instanceof GapError && error.gap.lostAfter === '5')
      assert.deepEqual(await stream.next(), { done: true, value: undefined })
    }
  }
})

test('a cursor that expires while its replay waits, and one of another installation, are gaps', async () => {
  const rows = [
    { error: { code: -32_005, message: 'expired' }, reason: 'cursor_too_old', requests: 2 },
    {
      error: { code: -32_602, message: 'malformed', data: { option: 'from' } },
      reason: 'cursor_invalid',
      requests: 5,
    },
  ]
  for (const { error, reason, requests } of rows) {
    gateway.requests.length = 0
    gateway.intercept = ({ id, params }, socket) => {
      const isResumed = (params.at(-1) as { from?: string }).from !== undefined
      if (isResumed) send(socket, { id, error })
      return isResumed
    }
    const gaps: Gap[] = []
    const stream = open({ onGap: (gap) => void gaps.push(gap) }).trades(PAIR, { resumeFrom: 'old' })
    const first = stream.next()
    await until('it is subscribed anew', () => gateway.subscribes.length === requests)
    await until('the gateway has answered', () => {
      gateway.trade()
      return gaps.length > 0
    })
    await first
    assert.deepEqual([gaps[0]?.reason, gaps[0]?.lostAfter], [reason, 'old'])
    stream.close()
  }
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

test('a refused key ends every stream', async () => {
  const stream = open().trades(PAIR)
  const { first } = await begin(stream)
  gateway.closeAll(4403)
  await assert.rejects(first, (error) => error instanceof StreamError && error.code === 'unauthorized')
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

test('a gap is not dropped with the states of a slow consumer', async () => {
  const gaps: Gap[] = []
  const series = [['a-eth', 'k1']] as const
  const stream = open().candlesOf(series, {
    ...{ resumeFrom: 'old', bufferSize: 2, onGap: (gap: Gap) => void gaps.push(gap) },
  })
  const pushes = [1, 2, 3, 4, 5].map((time) => ({
    ...{ topic: 'multi_kline', id: 'a-eth', interval: '1', revision: 1 },
    kline: { usd: { time, open: '1', high: '1', low: '1', close: '1', volume: '1' } },
  }))
  gateway.intercept = (request, socket) => {
    // Pushes of before, then the gap, then more pushes than the buffer has room for.
    gateway.acknowledge(socket, request, { cursor: '0', recovered: true })
    pushes.slice(0, 2).forEach((result, index) => {
      send(socket, { id: request.id, result, cursor: '1', seq: index + 1 })
    })
    gateway.acknowledge(socket, request, { cursor: '2', recovered: false })
    pushes.slice(2).forEach((result, index) => {
      send(socket, { id: request.id, result, cursor: '3', seq: index + 3 })
    })
    return true
  }
  const first = await stream.next()
  await until('states were dropped', () => stream.dropped > 0)
  const second = await stream.next()
  assert.deepEqual([first.value?.time, second.value?.time, gaps.length], [1, 5, 1])
})

test('a stream of several subscriptions has no single cursor', async () => {
  const streams = open({ limits: { messagesPerSecond: 1_000, multiKlinePairs: 1 } })
  const series = [
    ['a-eth', 'k1'],
    ['b-eth', 'k1'],
  ] as const
  assert.throws(() => streams.candlesOf(series, { resumeFrom: '1' }), TypeError)
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
