import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { Change } from '../../src/domain/change.ts'
import {
  MEME,
  MEME_USDC,
  MEME_WETH,
  sampleCandle,
  sampleLiquidity,
  samplePair,
  sampleToken,
  sampleTrade,
} from '../support/builders/market-samples.ts'
import { type Client, type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

type Push = {
  readonly seq: number
  readonly cursor: string
  readonly result: {
    readonly topic: string
    readonly tx?: { readonly id: string }
    readonly liq?: { readonly id: string }
    readonly ids?: readonly string[]
  }
}
type Ack = {
  readonly result: {
    readonly cursor?: string
    readonly recovered?: boolean
    readonly reason?: { readonly code: number; readonly message: string }
  }
}

const TX = ['tx', MEME_WETH, 'eth']
const TOO_OLD = { code: -32005, message: 'the events after the cursor are not retained any more for eth' }

let world: GatewayWorld
let gateway: Gateway
/** Cursors of the acknowledgement, and of the first two of three swaps of one set. */
let cursors: string[]

/** In the middle of the story the log is cut: all that the cursors need is in ClickHouse alone. */
before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  await world.publish([
    { type: 'pair', pair: samplePair() },
    { type: 'token', token: sampleToken() },
    { type: 'candle', candle: sampleCandle() },
  ])
  await world.storeAll()
  const first = await world.startGateway()
  const client = await first.connect()
  const { result } = await subscribe(client, [...TX, { cursor: true }])
  await world.publish([trade(101), trade(102), { type: 'token', token: sampleToken() }, trade(103)])
  const received = (await client.take(3)) as Push[]
  cursors = [result.cursor ?? '', ...received.map(({ cursor }) => cursor)]
  await client.close()
  await first.stop()
  await world.publish([trade(104, MEME_USDC), trade(104), { type: 'liquidity', liquidity: liquidity(104) }])
  await world.publish([trade(105), trade(106)])
  await world.publish([removal(106), removal(102), { type: 'pair', pair: samplePair() }], { cause: 'undo' })
  await world.publish([trade(107)])
  await world.storeAll()
  await truncateLog(1)
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

function trade(block: number, pair = MEME_WETH): Change {
  const key = { block, tx: 0, log: block % 7 }
  return { type: 'trade', trade: sampleTrade({ key, pair, time: 1_700_000_000 + block }) }
}

function removal(block: number): Change {
  const key = { block, tx: 0, log: block % 7 }
  return { type: 'tradeRemoved', trade: { key, pair: MEME_WETH, time: 1_700_000_000 + block } }
}

function liquidity(block: number) {
  return sampleLiquidity({ key: { block, tx: 1, log: 6 }, time: 1_700_000_000 + block })
}

async function subscribe(client: Client, params: readonly unknown[]): Promise<Ack> {
  return (await client.request(1, 'subscribe', params)) as Ack
}

const blockOf = (id: string | undefined) => Number(id?.split('-')[0])
/** A swap by its block, one taken back by its block below zero. */
const shown = ({ result: { tx, liq, ids } }: Push) =>
  ids === undefined ? blockOf((tx ?? liq)?.id) : -blockOf(ids[0])

async function resume(params: readonly unknown[], expected: readonly number[]): Promise<Push[]> {
  const client = await gateway.connect()
  const { result } = await subscribe(client, params)
  assert.deepEqual([result.recovered, result.reason], [true, undefined])
  const received = (await client.take(expected.length)) as Push[]
  assert.deepEqual(received.map(shown), expected)
  assert.deepEqual(
    received.map(({ seq }) => seq),
    expected.map((_, index) => index + 1),
  )
  assert.deepEqual(await client.request(9, 'ping', []), { jsonrpc: '2.0', id: 9, result: 'pong' })
  await client.close()
  return received
}

test('swaps that the log has lost come from history: from any cursor on, in the middle of a set too', async () => {
  const [ack, first, second, third] = cursors
  await resume([...TX, { from: ack }], [101, 103, 104, 105, 107])
  await resume([...TX, { from: first }], [103, 104, 105, 107])
  await resume([...TX, { from: second }], [103, 104, 105, 107])
  await resume([...TX, { from: third }], [104, 105, 107])
})

test('retractions are pushed to subscriptions with reorg', async () => {
  await resume([...TX, { from: cursors[2], reorg: true }], [-102, 103, 104, 105, -106, 107])
})

test('a cursor from a replay continues from there, in history and after it', async () => {
  const received = await resume([...TX, { from: cursors[1] }], [103, 104, 105, 107])
  for (const [index, { cursor }] of received.entries()) {
    await resume([...TX, { from: cursor }], [103, 104, 105, 107].slice(index + 1))
  }
})

test('liquidity likewise', async () => {
  const liq = ['liq', MEME_WETH, 'eth']
  await resume([...liq, { from: cursors[0] }], [104])
})

test('events that arrive during a replay follow it, each once', async () => {
  const [client, again] = [await gateway.connect(), await gateway.connect()]
  const publishing = (async () => {
    for (let block = 200; block < 260; block++) await world.publish([trade(block), trade(block + 100)])
  })()
  for (const each of [client, again]) await subscribe(each, [...TX, { from: cursors[0] }])
  await publishing
  const live = Array.from({ length: 60 }, (_, i) => [200 + i, 300 + i]).flat()
  for (const each of [client, again]) {
    const received = (await each.take(5 + live.length)) as Push[]
    assert.deepEqual(received.map(shown), [101, 103, 104, 105, 107, ...live])
    await each.close()
  }
})

type Page = {
  readonly txs: readonly { readonly id: string }[]
  readonly next_cursor?: string
  readonly cursor?: string
}

/** All pages, newest first, and the cursor of the first one. */
async function readHistory(path: string, downTo: number): Promise<{ blocks: number[]; cursor: string }> {
  const first = (await gateway.get(`${path}?limit=40`)).body as Page
  const blocks = first.txs.map(({ id }) => blockOf(id))
  let next = first.next_cursor
  while (next !== undefined && (blocks.at(-1) ?? 0) >= downTo) {
    const page = (await gateway.get(`${path}?limit=40&cursor=${next}`)).body as Page
    assert.equal(page.cursor, undefined)
    blocks.push(...page.txs.map(({ id }) => blockOf(id)))
    next = page.next_cursor
  }
  return { blocks: blocks.filter((block) => block >= downTo), cursor: first.cursor ?? '' }
}

test('history over REST and a subscription from its cursor make the log, while trades go on', async () => {
  const [from, to] = [2_000, 2_180]
  const all = Array.from({ length: to - from }, (_, index) => from + index)
  let published = from - 1
  const publishing = (async () => {
    for (const block of all) {
      await world.publish([trade(block), { type: 'liquidity', liquidity: liquidity(block) }])
      published = block
      // History takes over from the overlay now and then.
      if (block % 30 === 0) await world.storeAll()
    }
  })()
  const joined: { readonly history: number[]; readonly client: Client }[] = []
  for (let round = 0; round < 5; round++) {
    await waitUntil('some were published', () => published >= from + 30 * round)
    for (const [path, params] of [
      [`/v2/txs/${MEME_WETH}-eth`, TX],
      [`/v2/txs/liq/${MEME_WETH}-eth`, ['liq', MEME_WETH, 'eth']],
    ] as const) {
      const { blocks, cursor } = await readHistory(path, from)
      const client = await gateway.connect()
      const { result } = await subscribe(client, [...params, { from: cursor }])
      assert.deepEqual([result.recovered, result.cursor], [true, cursor])
      joined.push({ history: blocks.reverse(), client })
    }
  }
  await publishing
  for (const { history, client } of joined) {
    const live = (await client.take(all.length - history.length)) as Push[]
    assert.deepEqual([...history, ...live.map(shown)], all)
    assert.deepEqual(await client.request(9, 'ping', []), { jsonrpc: '2.0', id: 9, result: 'pong' })
    await client.close()
  }
})

test('a cursor that history does not cover: recovered is false with a reason, then live', async () => {
  const from = cursors[0]
  for (const params of [
    ['multi_tx', MEME, 'eth'],
    ['kline', MEME_WETH, 'k1', 'eth'],
  ]) {
    const client = await gateway.connect()
    const { result } = await subscribe(client, [...params, { from }])
    assert.deepEqual([result.recovered, result.reason], [false, TOO_OLD])
    assert.notEqual(result.cursor, from)
    if (params[0] === 'kline') assert.equal(((await client.next()) as Push).result.topic, 'kline')
    await world.publish([trade(900), { type: 'candle', candle: sampleCandle({ start: 900 }) }])
    assert.equal(((await client.next()) as Push).result.topic, params[0] === 'kline' ? 'kline' : 'tx')
    await client.close()
  }
  // A cursor of another log is none of this one.
  const foreign = `c1.${Buffer.from('[["eth","other",1,1,1,1,0]]').toString('base64url')}`
  const client = await gateway.connect()
  const { result } = await subscribe(client, [...TX, { from: foreign }])
  const reason = { ...TOO_OLD, message: 'the cursor belongs to another log of eth' }
  assert.deepEqual([result.recovered, result.reason], [false, reason])
  await client.close()
})

/** Takes the oldest messages out of the log, as a retention limit would. */
async function truncateLog(kept: number): Promise<void> {
  const connection = await connect({ servers: world.stack.natsUrls })
  const manager = await jetstreamManager(connection)
  const name = 'gatewaytest_CHANGES_eth'
  const { config } = await manager.streams.info(name)
  await manager.streams.update(name, { ...config, max_msgs: kept })
  await waitUntil('the log is cut', async () => (await manager.streams.info(name)).state.messages <= kept)
  await manager.streams.update(name, { ...config, max_msgs: -1 })
  await connection.close()
}
