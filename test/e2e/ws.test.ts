import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { API_KEY } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type Message, WsClient } from '../support/rigs/ws-client.ts'
import { ExpectedAnswers } from './expected-answers.ts'
import { ExpectedMarket } from './expected-market.ts'
import { barTexts, liquidityRow, type Row, swapRow } from './expected-rows.ts'
import { withoutProfile } from './expected-wallets.ts'
import { klineResults, priceRow, tokenSwapRow } from './ws-expected.ts'
import { candleKey, foldCandles, foldEvents, foldPrices } from './ws-fold.ts'
import { WsMarket } from './ws-market.ts'

const TOPICS = ['tx', 'multi_tx', 'liq', 'kline', 'multi_kline', 'price'] as const
type TopicName = (typeof TOPICS)[number]

/** One client and its subscriptions to all topics. */
type Listener = { readonly client: WsClient; readonly ids: ReadonlyMap<TopicName, number> }

type Event = { readonly pair: unknown; readonly row: Row }

let run: WsMarket
let expected: ExpectedMarket
let answers: ExpectedAnswers
let plain: Listener
let asking: Listener
let subscribedAt: number

before(async () => {
  run = await WsMarket.start()
  subscribedAt = (await run.scenario.market.head()).number
  plain = await listen()
  asking = await listen({ cursor: true, reorg: true })
  await run.play()
  const { number } = await run.scenario.market.head()
  expected = await ExpectedMarket.read(run.scenario, number)
  answers = new ExpectedAnswers(expected)
  for (const listener of [plain, asking]) {
    // Prices are the last of each block.
    await waitFor('the last prices', () =>
      foldPrices(pushes(listener, 'price')).get(run.thirdPair)?.['time'] === expected.head.time
        ? true
        : undefined,
    )
  }
})

after(async () => {
  plain?.client.close()
  asking?.client.close()
  await run?.stop()
})

async function listen(options?: object): Promise<Listener> {
  const { tokenPair, stablePair, token } = run.scenario
  const subjects: Record<TopicName, readonly unknown[]> = {
    tx: [tokenPair, 'local'],
    multi_tx: [token, 'local'],
    liq: [tokenPair, 'local'],
    kline: [tokenPair, 's1', 'local'],
    multi_kline: [
      [tokenPair, 'k1', 'local'],
      [stablePair, 'k5', 'local'],
      [run.thirdPair, 's1', 'local'],
    ],
    price: [[`${token}-local`, `${stablePair}-local`]],
  }
  const client = await WsClient.connect(await run.pipeline.gatewayUrl(), API_KEY)
  const ids = new Map<TopicName, number>()
  for (const topic of TOPICS) {
    const more = options === undefined ? [] : [options]
    ids.set(topic, await client.subscribe([topic, ...subjects[topic], ...more]))
  }
  return { client, ids }
}

function pushes({ client, ids }: Listener, topic: TopicName): Message[] {
  return client.pushes(ids.get(topic) ?? 0)
}

function switches({ client, ids }: Listener, topic: TopicName): Row[] {
  return client.messages
    .filter(({ id, result }) => id === ids.get(topic) && result?.['data'] !== undefined)
    .map(({ result }) => result as Row)
}

/** What must be left in the end, and what of it is a client's. */
function swapsLeft(topic: 'tx' | 'multi_tx'): { pair: string; row: Row }[] {
  const token = run.scenario.token.toLowerCase()
  return topic === 'tx'
    ? expected.tradesOf(run.scenario.tokenPair).map((trade) => ({ pair: trade.pool.id, row: swapRow(trade) }))
    : expected.pools.trades
        .filter(({ pool }) => pool.token0.address === token || pool.token1.address === token)
        .map((trade) => ({ pair: trade.pool.id, row: tokenSwapRow(trade) }))
}

function liquidityLeft(): { pair: string; row: Row }[] {
  return expected.pools.liquidity
    .filter(({ pool, block }) => pool.id === run.scenario.tokenPair && block > subscribedAt)
    .map((event) => ({ pair: event.pool.id, row: liquidityRow(event) }))
}

test('the script is what it should be', () => {
  const reverted = pushes(asking, 'tx').filter(({ result }) => result?.topic === 'revert')
  assert.ok(reverted.length > 5, `${reverted.length} swaps were taken back`)
  assert.ok(swapsLeft('tx').length > 20)
  assert.ok(swapsLeft('multi_tx').length > swapsLeft('tx').length)
  assert.equal(liquidityLeft().length, 2)
  // The third pool counts first, because a stablecoin is worth what it is worth; what is lost in the fork is not here.
  const { tokenPair } = run.scenario
  assert.deepEqual(
    expected.tokens.switches.map(({ oldPair, newPair }) => [oldPair, newPair]),
    [
      [run.thirdPair, tokenPair],
      [tokenPair, run.thirdPair],
    ],
  )
})

for (const topic of ['tx', 'multi_tx'] as const) {
  test(`${topic}: swaps less those that were taken back are those of the chain, in its order`, () => {
    const swaps = foldEvents(pushes(asking, topic), 'tx')
    assert.ok(topic === 'tx' || swaps.every(({ row }) => !('profile' in row)))
    assert.deepEqual(
      swaps.map(({ pair, row }) => ({ pair, row: withoutProfile(row) })),
      swapsLeft(topic),
    )
  })
}

test('liq: liquidity without retracted events equals that of the chain', () => {
  const received = pushes(asking, 'liq')
  assert.ok(
    received.some(({ result }) => result?.topic === 'revert'),
    'a fork takes some back',
  )
  assert.deepEqual(foldEvents(received, 'liq'), liquidityLeft())
})

test('kline: candles by their newest revision, less those that are gone, are those of the chain', () => {
  const { tokenPair } = run.scenario
  const received = pushes(asking, 'kline')
  assert.ok(
    received.some(({ result }) => result?.topic === 'revert'),
    'a fork takes some back',
  )
  const candles = Array.from(foldCandles(received).values(), ({ revision, ...rest }) => rest)
  assert.deepEqual(candles, klineResults(expected, answers, tokenPair, 's1'))
})

test('multi_kline: each of its series likewise', () => {
  const candles = foldCandles(pushes(asking, 'multi_kline'))
  const { tokenPair, stablePair } = run.scenario
  const left = new Set<string>()
  for (const [pair, interval, name] of [
    [tokenPair, 'k1', '1'],
    [stablePair, 'k5', '5'],
    [run.thirdPair, 's1', 's1'],
  ] as const) {
    const series = answers.candles(pair, interval)
    assert.ok(series.length > 0)
    for (const { start, usd, eth } of series) {
      assert.ok(usd !== undefined && eth !== undefined)
      const key = candleKey(`${pair}-local`, name, start)
      const { kline } = candles.get(key) as unknown as { kline: { usd: Row; eth: Row } }
      assert.deepEqual(kline.eth, { ...barTexts(eth), time: start })
      assert.deepEqual({ ...kline.usd, ...barTexts(usd), time: start }, kline.usd)
      left.add(key)
    }
  }
  assert.deepEqual(new Set(candles.keys()), left)
})

test('price: the newest of each pair; a token goes with its main pair', () => {
  for (const listener of [plain, asking]) {
    const newest = foldPrices(pushes(listener, 'price'))
    for (const pair of [run.scenario.stablePair, run.thirdPair]) {
      assert.deepEqual(newest.get(pair), priceRow(expected, answers, pair))
    }
  }
})

test('a switch is pushed to subscribers of the old pair, and its undo to subscribers of the new one', () => {
  const { tokenPair, token } = run.scenario
  for (const listener of [plain, asking]) {
    const watchingOld = switches(listener, 'kline')
    const there = { old: tokenPair, new: run.thirdPair }
    const back = { old: run.thirdPair, new: tokenPair }
    assert.deepEqual(watchingOld.map(sidesOf), [there, there])
    assert.deepEqual(switches(listener, 'multi_kline').map(sidesOf), [back, there, back, there])
    const pool = answers.pool(run.thirdPair)
    const { status, data } = watchingOld[1] as { status: string; data: Row & { new_main_pair_data: Row } }
    const { new_main_pair_data: main, ...rest } = data
    assert.equal(status, 'ok')
    assert.deepEqual(rest, {
      ...{ chain: 'local', event: 'switch_main_pair', id: `${tokenPair}-local`, tag: '' },
      ...{ old_main_pair: tokenPair, new_main_pair: run.thirdPair, token: token.toLowerCase() },
    })
    const { reserve0, reserve1, init_reserve0, init_reserve1, tvl, ...known } = main
    assert.deepEqual(known, {
      ...{ amm: pool.amm, chain: 'local', pair: run.thirdPair, tag: '', target_token: token.toLowerCase() },
      ...{ token0_address: pool.token0.address, token0_symbol: pool.token0.symbol },
      ...{ token0_decimal: pool.token0.decimals, token1_decimal: pool.token1.decimals },
      ...{ token1_address: pool.token1.address, token1_symbol: pool.token1.symbol },
    })
    assert.equal(init_reserve0, Number(pool.initial0) / 10 ** pool.token0.decimals)
    assert.equal(init_reserve1, Number(pool.initial1) / 10 ** pool.token1.decimals)
    for (const number of [reserve0, reserve1, tvl]) assert.ok(typeof number === 'number' && number > 0)
  }
})

function sidesOf({ data }: Row): Row {
  const { old_main_pair, new_main_pair } = data as Row
  return { old: old_main_pair, new: new_main_pair }
}

test('subscriptions with cursors get one with every push, and numbers without a gap', () => {
  for (const [topic, id] of asking.ids) {
    const received = asking.client.messages.filter((message) => message.id === id).slice(1)
    const numbers = received.map((message) => (message as { seq?: number }).seq)
    assert.deepEqual(
      numbers,
      Array.from(received, (_, index) => index + 1),
      topic,
    )
    for (const message of received) {
      const sentTime = message.result?.['data'] === undefined ? ['sent_time'] : []
      const fields = ['id', 'jsonrpc', 'result', ...sentTime, 'cursor', 'seq']
      assert.deepEqual(new Set(Object.keys(message)), new Set(fields))
    }
  }
})

test('subscriptions without options get the documented messages and no others', () => {
  const shapes: Record<TopicName, { readonly result: string[]; readonly of: (result: Row) => unknown }> = {
    // Documented, but known for some swaps only.
    tx: { result: ['id', 'topic', 'tx'], of: ({ tx }) => withoutProfile(tx as Row) },
    multi_tx: { result: ['id', 'topic', 'tx'], of: ({ tx }) => tx },
    liq: { result: ['id', 'liq', 'topic'], of: ({ liq }) => liq },
    kline: { result: ['id', 'interval', 'kline', 'topic'], of: ({ kline }) => kline },
    multi_kline: { result: ['id', 'interval', 'kline', 'topic'], of: ({ kline }) => kline },
    price: { result: ['prices', 'topic'], of: ({ prices }) => (prices as Row[])[0] },
  }
  const [kline] = klineResults(expected, answers, run.scenario.tokenPair, 's1')
  const examples: Record<TopicName, unknown> = {
    tx: swapsLeft('tx')[0]?.row,
    multi_tx: swapsLeft('multi_tx')[0]?.row,
    liq: liquidityLeft()[0]?.row,
    kline: kline?.['kline'],
    multi_kline: kline?.['kline'],
    price: priceRow(expected, answers, run.thirdPair),
  }
  for (const topic of TOPICS) {
    const received = pushes(plain, topic)
    assert.ok(received.length > 0)
    for (const message of received) {
      assert.deepEqual(Object.keys(message).sort(), ['id', 'jsonrpc', 'result', 'sent_time'])
      const result = message.result as Row
      assert.deepEqual(Object.keys(result).sort(), shapes[topic].result)
      assert.deepEqual(shapeOf(shapes[topic].of(result)), shapeOf(examples[topic]))
    }
  }
})

test('subscriptions without options get every swap and all liquidity of the chain, and candles are corrected', () => {
  for (const topic of ['tx', 'multi_tx'] as const) {
    assertWithin(eventsOf(pushes(plain, topic), 'tx'), swapsLeft(topic))
  }
  assertWithin(eventsOf(pushes(plain, 'liq'), 'liq'), liquidityLeft())
  const newest = new Map<unknown, unknown>()
  for (const { result } of pushes(plain, 'kline')) {
    newest.set((result as unknown as { kline: { usd: Row } }).kline.usd['time'], result)
  }
  for (const result of klineResults(expected, answers, run.scenario.tokenPair, 's1')) {
    const { usd } = result['kline'] as { usd: Row }
    assert.deepEqual(newest.get(usd['time']), result)
  }
})

function eventsOf(received: readonly Message[], field: 'tx' | 'liq'): Event[] {
  return received.map(({ result }) => ({ pair: result?.['id'], row: withoutProfile(result?.[field] as Row) }))
}

/** Swaps are not taken back for it: it has seen more than is left, but all of that, in order. */
function assertWithin(received: readonly Event[], left: readonly Event[]): void {
  assert.ok(received.length > left.length)
  // After a fork another transaction may stand where one was.
  const nameOf = ({ row }: Event): string => `${row['id']} ${row['transaction']}`
  const names = new Set(left.map(nameOf))
  assert.deepEqual(
    received.filter((event) => names.has(nameOf(event))),
    left,
  )
}

/** The fields and what kind of value each has. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([field, inner]) => [field, shapeOf(inner)]),
  )
}
