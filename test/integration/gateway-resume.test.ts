import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change } from '../../src/domain/change.ts'
import { withUnknown } from '../../src/gateway/shape/unknown-in-push.ts'
import {
  MEME,
  MEME_WETH,
  sampleCandle,
  sampleLiquidity,
  samplePair,
  sampleToken,
} from '../support/builders/market-samples.ts'
import { BULKY_SIDE, KLINE, TradedPair, TX } from '../support/builders/traded-pair.ts'
import type { Client, Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'

type Push = {
  readonly id: number
  readonly seq: number
  readonly cursor: string
  readonly sent_time?: number
  readonly result: {
    readonly topic: string
    readonly tx?: { readonly id: string; readonly block_number: number }
    readonly ids?: readonly string[]
    readonly kline?: { readonly usd: { readonly time: number; readonly volume: string } }
    readonly revision?: number
    readonly time?: number
  }
}
type Ack = {
  readonly id: number
  readonly result: {
    readonly status: string
    readonly cursor?: string
    readonly recovered?: boolean
    readonly reason?: { readonly code: number; readonly message: string }
  }
}

let traded: TradedPair
let world: GatewayWorld
let gateway: Gateway

before(async () => {
  traded = await TradedPair.start()
  world = traded.world
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

async function subscribe(client: Client, params: readonly unknown[], id = 1): Promise<Ack> {
  return (await client.request(id, 'subscribe', params)) as Ack
}

const pushes = async (client: Client, count: number) => (await client.take(count)) as Push[]
const blocks = (all: readonly Push[]) => all.map(({ result }) => result.tx?.block_number)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const numbers = (all: readonly Push[]) => all.map(({ seq }) => seq)

/** Asks for what follows on a cursor and expects exactly these trades. */
async function resume(at: Gateway, from: string, expected: readonly number[]): Promise<Push[]> {
  const client = await at.connect()
  const { result } = await subscribe(client, [...TX, { from }])
  assert.deepEqual([result.recovered, result.cursor, result.reason], [true, from, undefined])
  const received = await pushes(client, expected.length)
  assert.deepEqual(blocks(received), expected)
  assert.deepEqual(numbers(received), range(1, expected.length))
  assert.deepEqual(await client.request(99, 'ping', []), { jsonrpc: '2.0', id: 99, result: 'pong' })
  await client.close()
  return received
}

test('cursor: numbers without a hole from 1 on, beside sent_time; nothing of it without the option', async () => {
  const [plain, client] = [await gateway.connect(), await gateway.connect()]
  assert.deepEqual(Object.keys((await subscribe(plain, TX)).result), ['status', 'action', 'params'])
  const { result } = await subscribe(client, [...TX, { cursor: true }])
  assert.deepEqual(Object.keys(result), ['status', 'action', 'params', 'cursor'])
  const first = traded.block + 1
  await world.publish(traded.trades(2))
  await world.publish(traded.trades(1))
  const [received, bare] = [await pushes(client, 3), await pushes(plain, 3)]
  assert.deepEqual([blocks(received), numbers(received)], [range(first, traded.block), [1, 2, 3]])
  assert.deepEqual(Object.keys(received[0] as Push), [
    'id',
    'jsonrpc',
    'result',
    'sent_time',
    'cursor',
    'seq',
  ])
  assert.deepEqual(Object.keys(bare[0] as Push), ['id', 'jsonrpc', 'result', 'sent_time'])
  assert.deepEqual(
    bare.map(({ result: each }) => withUnknown(each)),
    received.map(({ result: each }) => each),
  )
  // The ack's own cursor stands before all of them.
  await resume(gateway, result.cursor ?? '', range(first, traded.block))
  await Promise.all([plain.close(), client.close()])
})

test('from: any push on, in the middle of a set too; from memory, from the log after a restart, at another gateway', async () => {
  const client = await gateway.connect()
  await subscribe(client, [...TX, { cursor: true }])
  const first = traded.block + 1
  await world.publish([...traded.trades(1), { type: 'token', token: sampleToken() }, ...traded.trades(2)])
  await world.publish(traded.trades(3))
  const received = await pushes(client, 6)
  await client.close()
  const last = await world.publish(traded.trades(2))
  await gateway.applied(last)
  for (const [index, { cursor }] of received.entries()) {
    await resume(gateway, cursor, range(first + index + 1, traded.block))
  }
  await world.storeAll()
  const other = await world.startGateway()
  for (const [index, { cursor }] of received.entries()) {
    const again = await resume(other, cursor, range(first + index + 1, traded.block))
    // And once more from there.
    await resume(gateway, again.at(-1)?.cursor ?? '', [])
  }
  await other.stop()
})

test('from: joins what is pushed meanwhile without gap or duplicate', async () => {
  const client = await gateway.connect()
  const { result } = await subscribe(client, [...TX, { cursor: true }])
  await client.close()
  const first = traded.block + 1
  for (let i = 0; i < 50; i++) await world.publish(traded.trades(3))
  const other = await world.startGateway()
  const publishing = (async () => {
    for (let i = 0; i < 150; i++) await world.publish(traded.trades(3))
  })()
  const clients = await Promise.all([gateway, other, gateway, other].map((each) => each.connect()))
  for (const each of clients) await subscribe(each, [...TX, { from: result.cursor }])
  await publishing
  for (const each of clients) {
    const received = await pushes(each, 600)
    assert.deepEqual(blocks(received), range(first, traded.block))
    assert.deepEqual(numbers(received), range(1, 600))
    assert.equal(received.at(-1)?.result.tx?.block_number, traded.block)
    await each.close()
  }
  await other.stop()
})

test('a gateway that is behind the cursor pushes nothing twice', async () => {
  const client = await gateway.connect()
  const lagging = await world.startGateway()
  await subscribe(client, [...TX, { cursor: true }])
  // Both are requested before either can reach the other's client: in any order, the rest follows once.
  for (let round = 0; round < 20; round++) {
    const published = await world.publish(traded.trades(2))
    const [first, second] = await pushes(client, 2)
    const from = (round % 2 === 0 ? first : second)?.cursor
    const other = await lagging.connect()
    await subscribe(other, [...TX, { from }])
    await world.publish(traded.trades(1))
    const expected = round % 2 === 0 ? range(traded.block - 1, traded.block) : [traded.block]
    const got = await pushes(other, expected.length)
    assert.deepEqual(blocks(got), expected, `after ${published.seq}`)
    await pushes(client, 1)
    await other.close()
  }
  await client.close()
  await lagging.stop()
})

test('reorg: retractions and revisions for subscriptions that ask for them, also across a disconnect', async () => {
  const [plain, asking] = [await gateway.connect(), await gateway.connect()]
  await subscribe(plain, TX)
  await subscribe(asking, [...TX, { reorg: true, cursor: true }])
  await subscribe(asking, [...KLINE, { reorg: true }], 2)
  const liq = ['liq', MEME_WETH, 'eth', { reorg: true }]
  await subscribe(asking, liq, 3)
  const [wrong] = traded.trades(1) as [Change & { type: 'trade' }]
  const { key, time, pair } = wrong.trade
  const candle = sampleCandle({ start: 600 })
  const added = sampleLiquidity()
  const set = await world.publish([
    wrong,
    { type: 'candle', candle },
    { type: 'liquidity', liquidity: added },
  ])
  const [swap, shown, liquidity] = await pushes(asking, 3)
  assert.deepEqual(
    [swap, shown, liquidity].map((each) => each?.result.topic),
    ['tx', 'kline', 'liq'],
  )
  assert.equal(shown?.result.revision, set.seq)
  const removed = { key: added.key, time: added.time, pair: added.pair }
  const undo = await world.publish(
    [
      { type: 'pair', pair: samplePair() },
      { type: 'tradeRemoved', trade: { key, time, pair } },
      { type: 'liquidityRemoved', liquidity: removed },
      { type: 'candleRemoved', candle: { pair, interval: 'k1', start: 660 } },
      { type: 'candle', candle },
    ],
    { cause: 'undo' },
  )
  await world.publish(traded.trades(1))
  const after = await pushes(asking, 5)
  assert.deepEqual(
    after.map(({ id, result }) => [
      id,
      result.topic,
      result.ids ?? result.time ?? result.revision ?? result.tx?.id,
    ]),
    [
      [1, 'revert', [`${key.block}-0`]],
      [3, 'revert', ['100-31']],
      [2, 'revert', 660],
      [2, 'kline', undo.seq],
      [1, 'tx', `${traded.block}-0`],
    ],
  )
  assert.deepEqual(
    after.filter(({ id }) => id === 1).map(({ seq, result }) => [seq, result.topic]),
    [
      [2, 'revert'],
      [3, 'tx'],
    ],
  )
  assert.deepEqual(blocks(await pushes(plain, 2)), [key.block, traded.block])
  // A client that was disconnected meanwhile receives it as well, if it asks for reorgs.
  const [away, deaf] = [await gateway.connect(), await gateway.connect()]
  const from = swap?.cursor
  await subscribe(away, [...TX, { from, reorg: true }])
  await subscribe(deaf, [...TX, { from }])
  assert.deepEqual(
    (await pushes(away, 2)).map(({ result }) => result.topic),
    ['revert', 'tx'],
  )
  assert.deepEqual(blocks(await pushes(deaf, 1)), [traded.block])
  await Promise.all([plain, asking, away, deaf].map((client) => client.close()))
})

test('kline: missed candles are replayed before live ones', async () => {
  const client = await gateway.connect()
  const { result } = await subscribe(client, [...KLINE, { cursor: true }])
  await client.close()
  const starts = [6_000, 6_060, 6_120]
  for (const start of starts) await world.publish([{ type: 'candle', candle: sampleCandle({ start }) }])
  const again = await gateway.connect()
  await subscribe(again, [...KLINE, { from: result.cursor }])
  const last = { type: 'candle', candle: sampleCandle({ start: 6_180 }) } as const
  await world.publish([last])
  assert.deepEqual(
    (await pushes(again, 4)).map(({ seq, result: { kline } }) => [seq, kline?.usd.time]),
    [...starts, 6_180].map((start, index) => [index + 1, start]),
  )
  await again.close()
})

test('checkpoint: a replay that found nothing advances the cursor, which skips and repeats nothing', async () => {
  const client = await gateway.connect()
  const { result } = await subscribe(client, [...TX, { cursor: true }])
  await client.close()
  const other = sampleCandle({ start: 9_000 })
  for (let i = 0; i < 3; i++) await world.publish([{ type: 'candle', candle: other }])
  await gateway.applied(await world.publish([{ type: 'candle', candle: other }]))
  const again = await gateway.connect()
  await subscribe(again, [...TX, { from: result.cursor, checkpoint: true }])
  const [checkpoint] = await pushes(again, 1)
  assert.deepEqual([checkpoint?.result, checkpoint?.seq], [{ topic: 'checkpoint' }, 1])
  assert.notEqual(checkpoint?.cursor, result.cursor)
  await world.publish(traded.trades(2))
  const received = await pushes(again, 2)
  assert.deepEqual(numbers(received), [2, 3])
  await again.close()
  await resume(gateway, checkpoint?.cursor ?? '', range(traded.block - 1, traded.block))
  // At a gateway that has nothing in memory, too.
  await world.storeAll()
  const fresh = await world.startGateway()
  await resume(fresh, checkpoint?.cursor ?? '', range(traded.block - 1, traded.block))
  await fresh.stop()
})

test('price: the present value follows on any cursor', async () => {
  const client = await gateway.connect()
  const params = ['price', [`${MEME}-eth`]]
  const { result } = await subscribe(client, [...params, { cursor: true }])
  const [snapshot] = await pushes(client, 1)
  assert.deepEqual([snapshot?.seq, typeof snapshot?.cursor], [1, 'string'])
  const again = await gateway.connect()
  const answer = await subscribe(again, [...params, { from: result.cursor }])
  assert.equal(answer.result.recovered, true)
  const [received] = await pushes(again, 1)
  assert.deepEqual([received?.seq, received?.result], [1, snapshot?.result])
  await Promise.all([client.close(), again.close()])
})

test('subscribing again with other options takes the place of what was', async () => {
  const client = await gateway.connect()
  await subscribe(client, TX, 1)
  await subscribe(client, [...TX, { cursor: true }], 2)
  await world.publish(traded.trades(1))
  const [numbered] = await pushes(client, 1)
  assert.deepEqual([numbered?.id, numbered?.seq], [2, 1])
  await subscribe(client, TX, 3)
  await world.publish(traded.trades(1))
  const [plain] = await pushes(client, 1)
  assert.deepEqual([plain?.id, plain?.seq], [3, undefined])
  const unsubscribed = await client.request(4, 'unsubscribe', [...TX, { cursor: true }])
  assert.equal((unsubscribed as Ack).result.status, 'ok')
  await gateway.applied(await world.publish(traded.trades(1)))
  assert.deepEqual(await client.request(5, 'ping', []), { jsonrpc: '2.0', id: 5, result: 'pong' })
  await client.close()
})

test('cursors that cannot be: -32602; the connection stays', async () => {
  const client = await gateway.connect()
  const failure = (id: number, message: string) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32602, message, data: { option: 'from' } },
  })
  assert.deepEqual(
    await client.request(1, 'subscribe', [...TX, { from: 'nonsense' }]),
    failure(1, 'the cursor is malformed; use the cursor of a push'),
  )
  const elsewhere = `c1.${Buffer.from('[["bsc","e",1,1,1,1,1]]').toString('base64url')}`
  assert.deepEqual(
    await client.request(2, 'subscribe', [...TX, { from: elsewhere }]),
    failure(2, 'the cursor says nothing of eth'),
  )
  await client.close()
})

test('a slow reader: states are conflated, events never skipped; past the limit 4408, and it resumes', async () => {
  const client = await gateway.connect()
  await subscribe(client, [...TX, { cursor: true }], 1)
  await subscribe(client, [...KLINE, { cursor: true }], 2)
  // The present candle.
  await client.next()
  const count = async (name: string) => (await gateway.metric(`chaintape_gateway_${name}_total`)) ?? 0
  const [conflated, slow] = [await count('conflations'), await count('slow_readers')]
  client.socket.pause()
  const first = traded.block + 1
  let version = 0n
  // One after the other: what the gateway takes in one turn it also writes in one, and that may be too much at once.
  const publish = async () => {
    version++
    const usd = { open: 1n, high: 1n, low: 1n, close: 1n, volume: version * 10n ** 18n }
    const candle = sampleCandle({ start: 60_000, usd })
    await gateway.applied(
      await world.publish([...traded.trades(1, { sold: BULKY_SIDE }), { type: 'candle', candle }]),
    )
  }
  while ((await count('conflations')) < conflated + 3) await publish()
  const [lastBlock, lastVersion] = [traded.block, String(version)]
  client.socket.resume()
  const received: Push[] = []
  const isLast = ({ result }: Push) => result.kline?.usd.volume === lastVersion
  while (!received.some(isLast) || !blocks(received).includes(lastBlock))
    received.push(...(await pushes(client, 1)))
  const swaps = received.filter(({ id }) => id === 1)
  const candles = received.filter(({ id }) => id === 2)
  assert.deepEqual(blocks(swaps), range(first, lastBlock))
  assert.deepEqual(numbers(swaps), range(1, swaps.length))
  assert.deepEqual(numbers(candles), range(2, candles.length + 1))
  assert.ok(candles.length < swaps.length, `${candles.length} candles for ${swaps.length} swaps`)

  client.socket.pause()
  while ((await count('slow_readers')) === slow) await publish()
  client.socket.resume()
  assert.deepEqual(await client.closed, [4408, 'client reads too slowly; reconnect with your last cursor'])
  const rest: Push[] = []
  while (client.waiting > 0) rest.push((await client.next()) as Push)
  const taken = rest.filter(({ id }) => id === 1)
  assert.deepEqual(blocks(taken), range(lastBlock + 1, lastBlock + taken.length))
  assert.ok(lastBlock + taken.length < traded.block)
  await resume(
    gateway,
    (taken.at(-1) ?? swaps.at(-1))?.cursor ?? '',
    range(lastBlock + taken.length + 1, traded.block),
  )
})

test('a replay larger than all buffers waits for its reader', async () => {
  const client = await gateway.connect()
  const { result } = await subscribe(client, [...TX, { cursor: true }])
  await client.close()
  const first = traded.block + 1
  for (let i = 0; i < 150; i++) await world.publish(traded.trades(1, { sold: BULKY_SIDE }))
  await world.storeAll()
  const slowReaders = async (at: Gateway) => (await at.metric('chaintape_gateway_slow_readers_total')) ?? 0
  const pushed = async (at: Gateway) =>
    (await at.metric('chaintape_gateway_pushes_total', { topic: 'tx' })) ?? 0
  const other = await world.startGateway()
  for (const at of [gateway, other]) {
    const [before, slow] = [await pushed(at), await slowReaders(at)]
    const again = await at.connect()
    await subscribe(again, [...TX, { from: result.cursor }])
    again.socket.pause()
    let seen = -1
    while ((await pushed(at)) !== seen) {
      seen = await pushed(at)
      await sleep(300)
    }
    assert.ok(seen - before < 150, `${seen - before} were made for a reader that takes none`)
    again.socket.resume()
    const all = await pushes(again, 150)
    assert.deepEqual(blocks(all), range(first, traded.block))
    assert.equal(await slowReaders(at), slow)
    await again.close()
  }
  await other.stop()
})
