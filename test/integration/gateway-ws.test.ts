import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pair } from '../../src/domain/change.ts'
import { klinePush } from '../../src/gateway/shape/kline.ts'
import { liquidityPush } from '../../src/gateway/shape/liquidity-transaction.ts'
import { switchPush } from '../../src/gateway/shape/main-pair-switch.ts'
import { priceEntry, pricePush, quoteEntry } from '../../src/gateway/shape/price-entry.ts'
import { swapPush, tokenSwapPush } from '../../src/gateway/shape/swap-transaction.ts'
import {
  ALONE,
  MEME,
  MEME_USDC,
  MEME_WETH,
  pairAlone,
  sampleCandle,
  sampleLiquidity,
  samplePair,
  sampleSwitch,
  sampleToken,
  sampleTrade,
  USDC,
  value,
  WETH,
} from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

let world: GatewayWorld
let gateway: Gateway

const TX = ['tx', MEME_WETH, 'eth']
const KLINE = ['kline', MEME_WETH, 'k15', 'eth']
const UNKNOWN = `0x${'b'.repeat(40)}`
const candle = (start: number) => sampleCandle({ interval: 'k15', start })
const main = (updatedAt: number): Pair => samplePair({ updatedAt })
/** As the engine publishes it: a change of a pair also publishes its target token. */
const priced = (pair: Pair) => ({ ...pairAlone(pair), target: sampleToken() })
const side = (updatedAt: number): Pair => samplePair({ address: MEME_USDC, updatedAt, isMain: false })

before(async () => {
  world = await GatewayWorld.start()
  await world.publish([
    { type: 'pair', pair: main(1) },
    { type: 'pair', pair: side(1) },
    { type: 'token', token: sampleToken() },
    { type: 'token', token: sampleToken({ address: USDC, mainPair: undefined }) },
    { type: 'candle', candle: candle(900) },
  ])
  await world.storeAll()
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

const ack = (id: number, action: string, params: unknown) => ({
  jsonrpc: '2.0',
  id,
  result: { status: 'ok', action, params },
})
const failure = (id: number | null, code: number, message: string, data?: object) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
})
const push = (id: number, result: object) => ({ id, jsonrpc: '2.0', result, sent_time: 0 })

test('tx: every swap of the pair in order, until unsubscribed', async () => {
  const client = await gateway.connect()
  assert.deepEqual(await client.request(11, 'subscribe', TX), ack(11, 'subscribe', TX))
  const trades = [17, 18, 25].map((log) => sampleTrade({ key: { block: 102, tx: 1, log } }))
  await world.publish([
    { type: 'trade', trade: trades[0] as (typeof trades)[0] },
    { type: 'trade', trade: sampleTrade({ pair: MEME_USDC }) },
    { type: 'trade', trade: trades[1] as (typeof trades)[0] },
  ])
  await world.publish([{ type: 'trade', trade: trades[2] as (typeof trades)[0] }])
  assert.deepEqual(
    await client.take(3),
    trades.map((trade) => push(11, swapPush('eth', trade))),
  )
  const { key, time, pair } = sampleTrade()
  await world.publish([{ type: 'tradeRemoved', trade: { key, time, pair } }], { cause: 'undo' })
  const answer = await client.request(12, 'unsubscribe', [
    'tx',
    MEME_WETH.toUpperCase().replace('0X', '0x'),
    'eth',
  ])
  assert.deepEqual(answer, ack(12, 'unsubscribe', ['tx', MEME_WETH.toUpperCase().replace('0X', '0x'), 'eth']))
  await gateway.applied(await world.publish([{ type: 'trade', trade: sampleTrade() }]))
  assert.deepEqual(await client.request(13, 'ping', []), { jsonrpc: '2.0', id: 13, result: 'pong' })
  await client.close()
})

test('kline: the present candle after the ack, then each change, corrections included', async () => {
  const client = await gateway.connect()
  client.send({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: KLINE })
  assert.deepEqual(await client.take(2), [
    ack(1, 'subscribe', KLINE),
    push(1, klinePush('eth', candle(900), ALONE)),
  ])
  await world.publish([{ type: 'candle', candle: candle(1_800) }])
  await world.publish([
    { type: 'candle', candle: candle(2_700) },
    { type: 'candle', candle: sampleCandle({ interval: 'k30' }) },
  ])
  const undo = await world.publish(
    [
      { type: 'candleRemoved', candle: { pair: MEME_WETH, interval: 'k15', start: 2_700 } },
      { type: 'candle', candle: { ...candle(1_800), tradeCount: 1 } },
    ],
    { cause: 'undo' },
  )
  assert.deepEqual(
    await client.take(3),
    [candle(1_800), candle(2_700), { ...candle(1_800), tradeCount: 1 }].map((each) =>
      push(1, klinePush('eth', each, ALONE)),
    ),
  )
  // The overlay, not Redis, has the candle that is newest now.
  await gateway.applied(undo)
  const other = await gateway.connect()
  other.send({ jsonrpc: '2.0', id: 2, method: 'subscribe', params: KLINE })
  assert.deepEqual(await other.take(2), [
    ack(2, 'subscribe', KLINE),
    push(2, klinePush('eth', { ...candle(1_800), tradeCount: 1 }, ALONE)),
  ])
  const none = ['kline', MEME_WETH, 's1', 'eth']
  assert.deepEqual(await other.request(3, 'subscribe', none), ack(3, 'subscribe', none))
  assert.deepEqual(await other.request(4, 'ping', []), { jsonrpc: '2.0', id: 4, result: 'pong' })
  await Promise.all([client.close(), other.close()])
})

test('multi_tx: the swaps of a token, on whichever side and in whichever pair, without profile and tx_seq', async () => {
  const client = await gateway.connect()
  const params = ['multi_tx', MEME, 'eth']
  const other = ['multi_tx', USDC, 'eth']
  assert.deepEqual(await client.request(1, 'subscribe', params), ack(1, 'subscribe', params))
  assert.deepEqual(await client.request(2, 'subscribe', other), ack(2, 'subscribe', other))
  const bought = sampleTrade()
  const sold = sampleTrade({ sold: bought.bought, bought: { ...bought.sold, token: USDC }, pair: MEME_USDC })
  const unrelated = { ...bought.bought, token: UNKNOWN }
  await world.publish([
    { type: 'trade', trade: bought },
    { type: 'trade', trade: sampleTrade({ bought: unrelated }) },
    { type: 'trade', trade: sold },
  ])
  assert.deepEqual(await client.take(3), [
    push(1, tokenSwapPush('eth', bought)),
    push(1, tokenSwapPush('eth', sold)),
    push(2, tokenSwapPush('eth', sold)),
  ])
  const pairOnly = ['tx_seq', 'profile']
  const { tx } = tokenSwapPush('eth', bought)
  assert.ok(pairOnly.every((field) => !(field in tx)))
  assert.deepEqual(
    await client.request(3, 'subscribe', ['multi_tx', UNKNOWN, 'eth']),
    failure(3, -32003, 'unknown token', { rejected: [{ item: `${UNKNOWN}-eth`, reason: 'unknown_token' }] }),
  )
  await client.close()
})

test('liq: what is put into the pair and taken out of it', async () => {
  const client = await gateway.connect()
  const params = ['liq', MEME_WETH, 'eth']
  assert.deepEqual(await client.request(1, 'subscribe', params), ack(1, 'subscribe', params))
  const events = [sampleLiquidity(), sampleLiquidity({ kind: 'removeLiquidity' })]
  await world.publish([
    { type: 'liquidity', liquidity: sampleLiquidity({ pair: MEME_USDC }) },
    ...events.map((liquidity) => ({ type: 'liquidity' as const, liquidity })),
  ])
  assert.deepEqual(
    await client.take(2),
    events.map((liquidity) => push(1, liquidityPush('eth', liquidity))),
  )
  await client.close()
})

test('multi_kline: several series, each with its snapshot; bad ones do not cancel good ones', async () => {
  const client = await gateway.connect()
  const at = (start: number) => sampleCandle({ pair: MEME_USDC, interval: 'k5', start })
  await gateway.applied(await world.publish([{ type: 'candle', candle: at(300) }]))
  const params = [
    'multi_kline',
    [MEME_USDC, 'k5', 'eth'],
    [MEME_USDC, 'k60', 'eth'],
    [UNKNOWN, 'k5', 'eth'],
    [MEME_USDC, 'k7', 'eth'],
    ['0x1', 'k5', 'eth'],
    [MEME_USDC, 'k5', 'tron'],
  ]
  client.send({ jsonrpc: '2.0', id: 1, method: 'subscribe', params })
  const rejected = [
    { item: `${MEME_USDC}-eth`, reason: 'malformed_interval', interval: 'k7' },
    { item: '0x1-eth', reason: 'malformed_id' },
    { item: `${MEME_USDC}-tron`, reason: 'unknown_chain' },
    { item: `${UNKNOWN}-eth`, reason: 'unknown_pair' },
  ]
  assert.deepEqual(await client.take(2), [
    { jsonrpc: '2.0', id: 1, result: { status: 'ok', action: 'subscribe', params, rejected } },
    push(1, klinePush('eth', at(300), ALONE)),
  ])
  const hour = sampleCandle({ pair: MEME_USDC, interval: 'k60', start: 3_600 })
  await world.publish([at(600), candle(600), hour].map((each) => ({ type: 'candle', candle: each })))
  assert.deepEqual(
    await client.take(2),
    [at(600), hour].map((each) => push(1, klinePush('eth', each, ALONE))),
  )
  assert.deepEqual(await client.request(2, 'unsubscribe', params), ack(2, 'unsubscribe', params))
  await client.close()
})

test('a main pair switch is pushed to candle subscribers of the old pair, and back after a fork', async () => {
  const [old, next] = [await gateway.connect(), await gateway.connect()]
  const hourly = (pair: string) => ['kline', pair, 'k1440', 'eth']
  assert.deepEqual(
    await old.request(1, 'subscribe', hourly(MEME_WETH)),
    ack(1, 'subscribe', hourly(MEME_WETH)),
  )
  assert.deepEqual(
    await next.request(2, 'subscribe', hourly(MEME_USDC)),
    ack(2, 'subscribe', hourly(MEME_USDC)),
  )
  const change = sampleSwitch()
  const deeper = { ...side(5), isMain: true }
  await world.publish([
    { type: 'pair', pair: { ...main(5), isMain: false } },
    { type: 'pair', pair: deeper },
    { type: 'switch', switch: change },
  ])
  // No topic, no sent_time.
  assert.deepEqual(await old.next(), { id: 1, jsonrpc: '2.0', result: switchPush('eth', change, deeper) })
  await world.publish(
    [
      { type: 'pair', pair: main(1) },
      { type: 'pair', pair: side(1) },
      { type: 'switchRemoved', switch: change },
    ],
    { cause: 'undo' },
  )
  const back = switchPush('eth', { ...change, oldPair: MEME_USDC, newPair: MEME_WETH }, main(1))
  assert.deepEqual(await next.next(), { id: 2, jsonrpc: '2.0', result: back })
  await Promise.all([old.close(), next.close()])
})

test('price: one snapshot, then changes; a token follows its main pair; bad ids do not cancel good ones', async () => {
  const client = await gateway.connect()
  const params = [
    'price',
    [`${MEME}-eth`, `${MEME_USDC}-eth`, `${USDC}-eth`, `${UNKNOWN}-eth`, `${MEME}-tron`, 'x'],
  ]
  client.send({ jsonrpc: '2.0', id: 5, method: 'subscribe', params })
  const rejected = [
    { item: `${MEME}-tron`, reason: 'unknown_chain' },
    { item: 'x', reason: 'malformed_id' },
    { item: `${UNKNOWN}-eth`, reason: 'unknown_id' },
  ]
  assert.deepEqual(await client.take(2), [
    { jsonrpc: '2.0', id: 5, result: { status: 'ok', action: 'subscribe', params, rejected } },
    push(5, pricePush([priceEntry(priced(main(1))), priceEntry(priced(side(1)))])),
  ])
  const entryPush = (pair: Pair) => push(5, pricePush([priceEntry(priced(pair))]))
  await world.publish([
    { type: 'pair', pair: main(2) },
    { type: 'token', token: sampleToken() },
  ])
  assert.deepEqual(await client.next(), entryPush(main(2)))
  const switched = { ...side(3), isMain: true }
  await world.publish([
    { type: 'pair', pair: { ...main(3), isMain: false } },
    { type: 'pair', pair: switched },
    { type: 'token', token: sampleToken({ mainPair: MEME_USDC }) },
  ])
  const after = await world.publish([{ type: 'pair', pair: { ...main(4), isMain: false } }])
  assert.deepEqual(await client.next(), entryPush(switched))
  await gateway.applied(after)
  const token = ['price', [`${MEME}-eth`]]
  client.send({ jsonrpc: '2.0', id: 6, method: 'subscribe', params: token })
  assert.deepEqual(await client.take(2), [
    ack(6, 'subscribe', token),
    push(6, pricePush([priceEntry(priced(switched))])),
  ])
  assert.deepEqual(await client.request(7, 'unsubscribe', []), ack(7, 'unsubscribe', []))
  await gateway.applied(await world.publish([{ type: 'pair', pair: switched }]))
  assert.deepEqual(await client.request(8, 'ping', []), { jsonrpc: '2.0', id: 8, result: 'pong' })
  assert.deepEqual(await gateway.metric('chaintape_gateway_subscriptions'), 0)
  await client.close()
})

test('no gap and no repetition between snapshot and pushes, while changes pour in', async () => {
  const count = 150
  const publishing = (async () => {
    for (let i = 1; i <= count; i++) await world.publish([{ type: 'pair', pair: main(1_000 + i) }])
  })()
  const client = await gateway.connect()
  const params = ['price', [`${MEME_WETH}-eth`]]
  client.send({ jsonrpc: '2.0', id: 1, method: 'subscribe', params })
  assert.deepEqual(await client.next(), ack(1, 'subscribe', params))
  const times: number[] = []
  while (times.at(-1) !== 1_000 + count) {
    const { result } = (await client.next()) as { result: { prices: { time: number }[] } }
    times.push(...result.prices.map(({ time }) => time))
  }
  await publishing
  const first = times[0] as number
  const expected = Array.from({ length: times.length }, (_, i) => Math.max(first, 1_000) + i)
  // The snapshot may be from before the first of them.
  assert.deepEqual(first > 1_000 ? times : [1_000, ...times.slice(1)], expected)
  await client.close()
})

test('errors leave the connection usable', async () => {
  const client = await gateway.connect()
  const ask = (message: unknown) => {
    client.send(message)
    return client.next()
  }
  assert.deepEqual(await ask('{'), failure(null, -32700, 'the message is not JSON'))
  assert.deepEqual(await ask('[]'), failure(null, -32600, 'the batch is empty'))
  assert.deepEqual(
    await client.request(1, 'subscribe', ['trades', MEME_WETH, 'eth']),
    failure(1, -32602, 'unknown topic; use one of: tx, multi_tx, liq, kline, multi_kline, price', {
      pointer: '/params/0',
    }),
  )
  assert.deepEqual(
    await client.request(2, 'subscribe', ['tx', UNKNOWN, 'eth']),
    failure(2, -32003, 'unknown pair', { rejected: [{ item: `${UNKNOWN}-eth`, reason: 'unknown_pair' }] }),
  )
  assert.deepEqual(
    await client.request(3, 'subscribe', ['price', [`${UNKNOWN}-eth`, 'x']]),
    failure(3, -32003, 'malformed id; neither a known pair nor a known token', {
      rejected: [
        { item: 'x', reason: 'malformed_id' },
        { item: `${UNKNOWN}-eth`, reason: 'unknown_id' },
      ],
    }),
  )
  const ids = Array.from({ length: 201 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}-eth`)
  assert.deepEqual(
    await client.request(4, 'subscribe', ['price', ids]),
    failure(4, -32002, 'a price subscription can have at most 200 ids', { limit: 'price_ids', max: 200 }),
  )
  const batch = [
    { jsonrpc: '2.0', id: 5, method: 'subscribe', params: TX },
    { jsonrpc: '2.0', id: 6, method: 'nothing', params: [] },
  ]
  assert.deepEqual(await ask(batch), [
    ack(5, 'subscribe', TX),
    failure(6, -32601, 'unknown method; use one of: subscribe, unsubscribe, auth, ping', {
      pointer: '/method',
    }),
  ])
  await client.close()
  await waitUntil('the subscription is gone', async () => {
    return (await gateway.metric('chaintape_gateway_subscriptions')) === 0
  })
})

test('price of a quote asset: the token itself at once, and whenever it changes, from its side of the main pair', async () => {
  const weth = (tvl: string) =>
    sampleToken({ address: WETH, symbol: 'WETH', decimals: 18, tvlUsd: value(tvl) })
  const pair = main(7)
  const published = await world.publish([
    { type: 'pair', pair },
    { type: 'token', token: weth('5000') },
  ])
  await gateway.applied(published)
  const client = await gateway.connect()
  const params = ['price', [`${WETH}-eth`]]
  assert.deepEqual(await client.request(5, 'subscribe', params), ack(5, 'subscribe', params))
  const entryOf = (tvl: string) =>
    pricePush([quoteEntry({ chain: 'eth', pair, token: weth(tvl), windows: undefined, times: undefined })])
  assert.deepEqual(await client.next(), push(5, entryOf('5000')))
  await world.publish([{ type: 'token', token: weth('6000') }])
  assert.deepEqual(await client.next(), push(5, entryOf('6000')))
  await client.close()
})
