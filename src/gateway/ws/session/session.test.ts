import assert from 'node:assert/strict'
import test, { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  ALONE,
  MEME,
  MEME_WETH,
  pairAlone,
  sampleCandle,
  samplePair,
  sampleSet,
  sampleToken,
  sampleTrade,
} from '../../../../test/support/builders/market-samples.ts'
import {
  ack,
  failure,
  KLINE,
  push,
  request,
  startSession,
  TX,
} from '../../../../test/support/rigs/fake-session.ts'
import type { Candle, Pair } from '../../../domain/change.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Version } from '../../market/overlay-documents.ts'
import { klinePush } from '../../shape/kline.ts'
import { priceEntry, pricePush } from '../../shape/price-entry.ts'
import { swapPush } from '../../shape/swap-transaction.ts'

test('pushes that arrive while the snapshot is read follow it, unless it includes them', async () => {
  const reading = Promise.withResolvers<Version<Candle>[]>()
  const { socket, apply, receive } = startSession({ view: { candles: () => reading.promise } })
  await receive(request(4, 'subscribe', KLINE))
  const at = (tradeCount: number) => sampleCandle({ start: tradeCount })
  for (const seq of [6, 7, 8]) apply(sampleSet(seq, [{ type: 'candle', candle: at(seq) }]))
  assert.deepEqual(socket.sent, [])
  reading.resolve([{ seq: 7, record: at(7) }])
  await turn()
  apply(sampleSet(9, [{ type: 'candle', candle: at(9) }]))
  assert.deepEqual(socket.sent, [
    ack(4, 'subscribe', KLINE),
    push(4, klinePush('eth', at(7), ALONE)),
    push(4, klinePush('eth', at(8), ALONE)),
    push(4, klinePush('eth', at(9), ALONE)),
  ])
})

test('a snapshot from a store that is ahead of the log is not followed by what is older', async () => {
  const { socket, apply, receive } = startSession({
    view: { candles: async () => [{ seq: 8, record: sampleCandle() }] },
  })
  await receive(request(4, 'subscribe', KLINE))
  for (const seq of [7, 8, 9, 10]) {
    apply(sampleSet(seq, [{ type: 'candle', candle: sampleCandle({ start: seq }) }]))
  }
  assert.deepEqual(socket.sent, [
    ack(4, 'subscribe', KLINE),
    push(4, klinePush('eth', sampleCandle(), ALONE)),
    push(4, klinePush('eth', sampleCandle({ start: 9 }), ALONE)),
    push(4, klinePush('eth', sampleCandle({ start: 10 }), ALONE)),
  ])
})

test('a subscription to a token asks for its holders, in the name of the key', async () => {
  const { receive, wanted, grant } = startSession()
  await receive(request(1, 'subscribe', TX))
  assert.deepEqual(wanted, [])
  await receive(request(2, 'subscribe', ['multi_tx', MEME, 'eth']))
  assert.deepEqual(wanted, [[grant.keyId, MEME]])
})

test('a second subscribe to the same takes the place of the first', async () => {
  const { socket, apply, metrics, receive } = startSession()
  await receive(request(1, 'subscribe', TX))
  await receive(request(2, 'subscribe', TX))
  apply(sampleSet(6, [{ type: 'trade', trade: sampleTrade() }]))
  assert.deepEqual(socket.sent, [
    ack(1, 'subscribe', TX),
    ack(2, 'subscribe', TX),
    push(2, swapPush('eth', sampleTrade())),
  ])
  assert.equal((await metrics.subscriptions.get()).values[0]?.value, 1)
  await receive(request(3, 'unsubscribe', TX))
  apply(sampleSet(7, [{ type: 'trade', trade: sampleTrade() }]))
  assert.deepEqual(socket.sent.slice(3), [ack(3, 'unsubscribe', TX)])
  assert.equal((await metrics.subscriptions.get()).values[0]?.value, 0)
})

test('one batch is answered by one array, and only then come the snapshots of what is still subscribed', async () => {
  const { socket, hub, receive } = startSession()
  const prices = ['price', [`${MEME}-eth`, `${MEME_WETH}-eth`, `0x${'9'.repeat(40)}-eth`]]
  await receive([
    request(1, 'subscribe', KLINE),
    request(2, 'subscribe', prices),
    request(3, 'unsubscribe', KLINE),
    request(4, 'subscribe', ['tx', MEME, 'eth']),
    { method: 'ping' },
  ])
  assert.deepEqual(socket.sent, [
    [
      ack(1, 'subscribe', KLINE),
      {
        jsonrpc: '2.0',
        id: 2,
        result: {
          status: 'ok',
          action: 'subscribe',
          params: prices,
          rejected: [{ item: `0x${'9'.repeat(40)}-eth`, reason: 'unknown_id' }],
        },
      },
      ack(3, 'unsubscribe', KLINE),
      failure(4, -32003, 'unknown pair', { rejected: [{ item: `${MEME}-eth`, reason: 'unknown_pair' }] }),
      { jsonrpc: '2.0', id: null, result: 'pong' },
    ],
    push(2, pricePush([priceEntry({ ...pairAlone(samplePair()), target: sampleToken() })])),
  ])
  assert.equal(hub.size, 2)
})

test('an unsubscribe may name the same ids in another order and case', async () => {
  const { socket, hub, receive } = startSession()
  const ids = [`${MEME}-eth`, `${MEME_WETH}-eth`, 'x']
  await receive(request(1, 'subscribe', ['price', ids]))
  assert.equal(hub.size, 2)
  const others = ['x', `${MEME_WETH}-eth`, `${MEME.toUpperCase().replace('0X', '0x')}-eth`]
  await receive(request(2, 'unsubscribe', ['price', others]))
  assert.deepEqual(socket.sent.at(-1), ack(2, 'unsubscribe', ['price', others]))
  assert.equal(hub.size, 0)
})

test('a failing store is reported as -32603 without its reason, and leaves no subscription', async () => {
  const { socket, hub, receive } = startSession({
    view: { candles: () => Promise.reject(new Error('redis at 10.0.0.7 is down')) },
  })
  await receive(request(1, 'subscribe', KLINE))
  const text = 'internal error; retry'
  assert.deepEqual(socket.sent, [failure(1, -32603, text)])
  assert.equal(hub.size, 0)
})

test('a store that is away is named by its code, so that clients know to retry', async () => {
  const away = new ChaintapeError('store_unavailable', 'redis at 10.0.0.7 is down')
  const { socket, hub, receive } = startSession({ view: { candles: () => Promise.reject(away) } })
  await receive(request(1, 'subscribe', KLINE))
  const text = 'a backing store is unavailable; retry'
  assert.deepEqual(socket.sent, [failure(1, -32603, text, { reason: 'store_unavailable' })])
  assert.equal(hub.size, 0)
})

test('limits: subscriptions, and messages in one second', async () => {
  const { socket, clock, receive } = startSession({ limits: { maxSubscriptions: 1, messagesPerSecond: 3 } })
  await receive(request(1, 'subscribe', TX))
  await receive([request(2, 'subscribe', KLINE), request(3, 'subscribe', TX), request(4, 'ping', [])])
  await receive(request(5, 'subscribe', TX))
  clock.now += 400
  await receive(request(6, 'ping', []))
  const limit = { limit: 'subscriptions', max: 1 }
  const tooMany = 'too many messages; slow down'
  assert.deepEqual(socket.sent, [
    ack(1, 'subscribe', TX),
    [
      failure(2, -32002, 'a connection can have at most 1 subscriptions', limit),
      ack(3, 'subscribe', TX),
      failure(4, -32004, tooMany),
    ],
    failure(5, -32004, tooMany),
    { jsonrpc: '2.0', id: 6, result: 'pong' },
  ])
})

test('requests that wait for a slow store are bounded; further ones are refused at once', async () => {
  const { socket, receive } = startSession({
    limits: { maxWaiting: 2 },
    view: { pairs: () => new Promise(() => undefined) },
  })
  for (const id of [1, 2, 3, 4]) await receive(request(id, 'subscribe', TX))
  const tooMany = 'too many messages; slow down'
  assert.deepEqual(socket.sent, [failure(3, -32004, tooMany), failure(4, -32004, tooMany)])
})

test('a binary message is refused', async () => {
  const { socket } = startSession()
  socket.emit('message', Buffer.from('{"method":"ping"}'), true)
  await turn()
  assert.deepEqual(socket.sent, [failure(null, -32600, 'binary messages are not supported; send text')])
})

test('a reader that does not keep up is closed with 4408, and gets nothing more', async () => {
  const { socket, stream, apply, hub, metrics, receive } = startSession({
    limits: { maxBufferedBytes: 10_000 },
  })
  await receive(request(1, 'subscribe', TX))
  stream.writableLength = 9_500
  for (const seq of [6, 7]) apply(sampleSet(seq, [{ type: 'trade', trade: sampleTrade() }]))
  assert.deepEqual(socket.sent, [ack(1, 'subscribe', TX)])
  assert.deepEqual(socket.closed, [[4408, 'client reads too slowly; reconnect with your last cursor']])
  assert.equal(hub.size, 0)
  assert.equal((await metrics.slowReaders.get()).values[0]?.value, 1)
})

test('pushes held back for a snapshot are bounded, too', async () => {
  const { socket, apply, hub, receive } = startSession({
    limits: { maxBufferedBytes: 1_000 },
    view: { candles: () => new Promise(() => undefined) },
  })
  await receive(request(1, 'subscribe', KLINE))
  for (const seq of [6, 7, 8]) apply(sampleSet(seq, [{ type: 'candle', candle: sampleCandle() }]))
  assert.deepEqual(socket.closed, [[4408, 'client reads too slowly; reconnect with your last cursor']])
  assert.equal(hub.size, 0)
})

test('a socket that closes while its pair is looked up leaves no subscription', async () => {
  const lookup = Promise.withResolvers<Version<Pair>[]>()
  const { socket, hub, receive } = startSession({ view: { pairs: () => lookup.promise } })
  await receive(request(1, 'subscribe', TX))
  socket.readyState = 3
  socket.emit('close')
  lookup.resolve([{ seq: 1, record: samplePair() }])
  await turn()
  assert.deepEqual([hub.size, socket.sent], [0, []])
})

test('pings every 20 s, and closes after 60 s without a sign of life', () => {
  const { socket, clock, session } = startSession()
  const pings: number[] = []
  for (let second = 1; second <= 85; second++) {
    clock.now += 1_000
    const before = socket.pings
    session.tick()
    if (socket.pings > before) pings.push(second)
    if (second === 25) socket.emit('pong')
  }
  assert.deepEqual(pings, [20, 40, 60, 80])
  assert.deepEqual(socket.closed, [[1001, 'idle timeout']])
})

test('checkpoints every 30 s while nothing is pushed, for those who want them', async () => {
  const { socket, clock, session, apply, receive } = startSession()
  await receive(request(1, 'subscribe', [...TX, { checkpoint: true }]))
  await receive(request(2, 'subscribe', [...KLINE, { cursor: true }]))
  socket.sent.length = 0
  const seconds: number[] = []
  for (let second = 1; second <= 120; second++) {
    clock.now += 1_000
    socket.emit('pong')
    if (second === 70) apply(sampleSet(100, [{ type: 'trade', trade: sampleTrade() }]))
    else apply(sampleSet(second < 70 ? second + 10 : second + 100, []))
    const before = socket.sent.length
    session.tick()
    if (socket.sent.length > before) seconds.push(second)
  }
  // The trade was pushed between the looks at 60 and 90 seconds.
  assert.deepEqual(seconds, [30, 60, 120])
  assert.deepEqual(
    (socket.sent as { id: number; seq: number; result: { topic: string } }[]).map(({ id, seq, result }) => [
      ...[id, seq, result.topic],
    ]),
    [
      [1, 1, 'checkpoint'],
      [1, 2, 'checkpoint'],
      [1, 3, 'tx'],
      [1, 4, 'checkpoint'],
    ],
  )
})

test('without a key in the header: auth first, within 5 s', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const waiting = startSession({ isAuthorised: false })
    await waiting.receive(request(1, 'subscribe', TX))
    await waiting.receive({ method: 'ping' })
    mock.timers.tick(4_999)
    assert.deepEqual(waiting.socket.closed, [])
    mock.timers.tick(1)
    assert.deepEqual(waiting.socket.closed, [[4401, 'not authenticated in time']])
    assert.deepEqual(waiting.socket.sent, [
      failure(1, -32001, 'send auth first', { method: 'subscribe' }),
      failure(null, -32001, 'send auth first', { method: 'ping' }),
    ])

    const right = startSession({ isAuthorised: false })
    await right.receive(request(0, 'auth', ['right']))
    mock.timers.tick(10_000)
    await right.receive(request(1, 'subscribe', TX))
    assert.deepEqual(right.socket.sent, [ack(0, 'auth', []), ack(1, 'subscribe', TX)])
    assert.deepEqual(right.socket.closed, [])

    const wrong = startSession({ isAuthorised: false })
    await wrong.receive(request(0, 'auth', ['wrong']))
    assert.deepEqual(wrong.socket.sent, [
      failure(0, -32001, 'the API key is invalid', { pointer: '/params/0' }),
    ])
    assert.deepEqual(wrong.socket.closed, [[4401, 'invalid API key']])
  } finally {
    mock.timers.reset()
  }
})

test('a shutdown is announced, then the socket is closed', () => {
  const { socket, session } = startSession()
  session.shutDown(1_234)
  assert.deepEqual(socket.sent, [
    { jsonrpc: '2.0', method: 'shutdown', params: [{ reconnect_after_ms: 1_234 }] },
  ])
  assert.deepEqual(socket.closed, [[1001, 'shutting down']])
})

test('messages of a client with a key wait for their turn, and the socket is not read meanwhile', async () => {
  const works: (() => void)[] = []
  const { socket, receive } = startSession({ messages: { add: (work) => works.push(work) } })
  await receive(request(1, 'ping', []))
  await receive(request(2, 'ping', []))
  assert.deepEqual([socket.sent, socket.isPaused], [[], true])
  works.shift()?.()
  await turn()
  assert.deepEqual([socket.sent.length, socket.isPaused], [1, true])
  works.shift()?.()
  await turn()
  assert.deepEqual([socket.sent.length, socket.isPaused], [2, false])
})

test('a flood stays in the kernel, also if some of its messages still wait for their turn', async () => {
  const works: (() => void)[] = []
  const { socket, receive } = startSession({
    messages: { add: (work) => works.push(work) },
    limits: { messagesPerSecond: 1, refusalsPerSecond: 1, refusalsAtOnce: 1 },
  })
  for (let id = 0; id < 6; id++) await receive(request(id, 'ping', []))
  for (const work of works) work()
  assert.deepEqual([socket.closed, socket.isPaused], [[[4429, 'too many messages']], true])
})
