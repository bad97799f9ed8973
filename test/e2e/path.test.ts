import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { API_KEY, Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { WsClient } from '../support/rigs/ws-client.ts'
import { ExpectedAnswers } from './expected-answers.ts'
import { startOf } from './expected-candles.ts'
import { ExpectedHoldings } from './expected-holdings.ts'
import { ExpectedMarket } from './expected-market.ts'
import { decimal, price, value } from './expected-numbers.ts'
import { targetOf } from './expected-pools.ts'
import { barTexts, change24h, changeToday, type Row, swapRow, volumeUsd } from './expected-rows.ts'
import { ExpectedWallets } from './expected-wallets.ts'
import { knowTokens } from './know-tokens.ts'
import { Scenario } from './scenario.ts'
import { withoutUnknown } from './without-unknown.ts'

const BLOCKS = 40

let stack: Stack
let scenario: Scenario
let pipeline: Pipeline
let expected: ExpectedMarket
let answers: ExpectedAnswers
let wallets: ExpectedWallets
let client: WsClient
let head: { number: number; time: number }
const subscriptions = { tx: 0, stableTx: 0, s1: 0, k1: 0, k10080: 0, price: 0 }

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  // Finality five blocks down, so that blocks become final, and their undo data goes, in mid-flow.
  pipeline = new Pipeline(stack, 'path', { finality_depth: 5 })
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
  await caughtUp()
  const tokens = scenario.tokens.map(({ address }) => address.toLowerCase())
  await knowTokens(pipeline, scenario.market, tokens)
  client = await WsClient.connect(await pipeline.gatewayUrl(), API_KEY)
  subscriptions.tx = await client.subscribe(['tx', scenario.tokenPair, 'local'])
  subscriptions.stableTx = await client.subscribe([
    'tx',
    scenario.stablePair.toUpperCase().replace('0X', '0x'),
    'local',
  ])
  subscriptions.s1 = await client.subscribe(['kline', scenario.tokenPair, 's1', 'local'])
  subscriptions.k1 = await client.subscribe(['kline', scenario.tokenPair, 'k1', 'local'])
  subscriptions.k10080 = await client.subscribe(['kline', scenario.tokenPair, 'k10080', 'local'])
  subscriptions.price = await client.subscribe([
    'price',
    [`${scenario.token}-local`, `${scenario.tokenPair}-local`, `${scenario.stablePair}-local`],
  ])
  for (let block = 0; block < BLOCKS; block++) await scenario.tradeBlock()
  await caughtUp()
  head = await scenario.market.head()
  expected = await ExpectedMarket.read(scenario, head.number)
  wallets = await ExpectedWallets.read(scenario.market, tokens, head.number)
  answers = new ExpectedAnswers(expected, await ExpectedHoldings.read(scenario.market, tokens, head.number))
  await waitFor('the last push', () => {
    const swaps = expected.tradesOf(scenario.tokenPair)
    return client.pushes(subscriptions.tx).length >= swaps.length ? true : undefined
  })
})

after(async () => {
  client?.close()
  await pipeline?.stop()
  await stack?.stop()
})

async function caughtUp(): Promise<void> {
  await pipeline.reaches(`/v2/pairs/${scenario.tokenPair}-local`, await scenario.market.head())
}

test('every swap is pushed once, in order, with the numbers and holdings the receipts give', () => {
  for (const [id, pair] of [
    [subscriptions.tx, scenario.tokenPair],
    [subscriptions.stableTx, scenario.stablePair],
  ] as const) {
    const pushed = client.pushes(id).map(({ result }) => {
      const { profile, ...tx } = (result as unknown as { tx: Row }).tx
      return { ...result, tx: { ...tx, profile: JSON.parse(String(profile)) } }
    })
    const trades = expected.tradesOf(pair)
    const swaps = trades.map((trade) => ({ ...swapRow(trade), profile: wallets.profileOf(trade) }))
    assert.ok(swaps.length > 20, `only ${swaps.length} swaps: the scenario does not test much`)
    assert.deepEqual(
      pushed,
      swaps.map((tx) => ({ id: pair, topic: 'tx', tx })),
    )
  }
})

test('the last push of every candle equals the candle folded from the receipts, and the windows of that moment', () => {
  const trades = expected.tradesOf(scenario.tokenPair)
  for (const [interval, name] of [
    ['s1', 's1'],
    ['k1', '1'],
    ['k10080', '10080'],
  ] as const) {
    const pushed = new Map<unknown, unknown>()
    for (const { result } of client.pushes(subscriptions[interval])) {
      const { kline } = result as unknown as { kline: { usd: Row } }
      pushed.set(kline.usd['time'], result)
    }
    const candles = answers.candles(scenario.tokenPair, interval)
    assert.ok(candles.length > 0)
    assert.deepEqual(
      [...pushed.values()],
      candles.map(({ start, usd, eth }) => {
        const last = trades.findLast(({ time }) => startOf(interval, time) === start)
        assert.ok(usd !== undefined && eth !== undefined && last !== undefined)
        const at = { number: last.block, time: last.time }
        return {
          id: `${scenario.tokenPair}-local`,
          interval: name,
          kline: {
            eth: { ...barTexts(eth), time: start },
            usd: { ...barTexts(usd), ...windowsOfPush(at), time: start },
          },
          topic: 'kline',
        }
      }),
    )
  }
  assert.equal(answers.candles(scenario.tokenPair, 'k10080').length, 2, 'the scenario crosses a Monday')
})

function windowsOfPush(at: { number: number; time: number }): Row {
  const windows = expected.pairWindows(scenario.tokenPair, at)
  const day = windows?.sums['24h']
  assert.ok(windows !== undefined && day !== undefined)
  return {
    amount_24h: decimal(windows.amountRaw, 9),
    change: change24h(windows),
    change_v2: changeToday(windows),
    count_24h: String(day.buys + day.sells),
    high_24h: price(windows.highUsd),
    low_24h: price(windows.lowUsd),
    swap: '',
    volume_24h: value(volumeUsd(windows)),
  }
}

test('the newest price of each pair equals its reserves and windows', () => {
  const newest = new Map<string, unknown>()
  for (const { result } of client.pushes(subscriptions.price)) {
    const { prices } = result as unknown as { prices: { pair: string }[] }
    for (const entry of prices) newest.set(entry.pair, entry)
  }
  for (const address of [scenario.tokenPair, scenario.stablePair]) {
    const pool = answers.pool(address)
    const target = targetOf(pool)
    const { last, token0, token1 } = pool
    assert.ok(target !== undefined && last !== undefined)
    // Every trade is a push, with the values known at that time.
    const windows = expected.pairWindows(address, { number: last.block, time: last.time })
    const day = windows?.sums['24h']
    assert.ok(windows !== undefined && day !== undefined)
    assert.deepEqual(newest.get(address), {
      chain: 'local',
      pair: address,
      is_main_pair: true,
      target_token: target.address,
      uprice: price(windows.priceUsd),
      last_price: price((pool.target0 ? last.prices.price0 : last.prices.price1).usd),
      reserve0: decimal(pool.reserve0, token0.decimals),
      reserve1: decimal(pool.reserve1, token1.decimals),
      price_change: changeToday(windows),
      price_change_24h: change24h(windows),
      volume_24_u: value(volumeUsd(windows)),
      direction: last.side,
      time: last.time,
      change: change24h(windows),
      tvl: value(pool.tvl.usd),
      makers_24h: String(day.makers),
      tx_amount_24h: decimal(windows.amountRaw, target.decimals),
      tx_count_24h: String(day.buys + day.sells),
    })
  }
})

test('GET /v2/pairs/{pair-id} gives reserves, prices, TVL and windows to the last digit', async () => {
  const { status, body, headers } = await pipeline.get(
    `/v2/pairs/${scenario.tokenPair.toUpperCase().replace('0X', '0x')}-local`,
  )
  assert.equal(status, 200)
  assert.equal(headers.get('X-Block'), String(head.number))
  assert.equal(headers.get('X-Block-Time'), String(head.time))
  assert.equal(headers.get('X-CU-Cost'), '5')
  assert.deepEqual(withoutUnknown(body), answers.pairDetail(scenario.tokenPair))
})

test('GET /v2/tokens/{token-id} gives the token and its pairs', async () => {
  const { status, body, headers } = await pipeline.get(`/v2/tokens/${scenario.token}-local`)
  assert.equal(status, 200)
  assert.equal(headers.get('X-CU-Cost'), '5')
  assert.deepEqual(withoutUnknown(body), answers.tokenDetail(scenario.token.toLowerCase()))
})

test('POST /v2/tokens/price gives every known token above the threshold', async () => {
  const addresses = [scenario.token, scenario.market.weth, scenario.stable].map((one) => one.toLowerCase())
  const unknown = `0x${'1'.repeat(40)}-local`
  const { status, body, headers } = await pipeline.post('/v2/tokens/price', {
    token_ids: [...addresses.map((address) => `${address}-local`), unknown],
    tvl_min: 0,
  })
  assert.equal(status, 200)
  assert.equal(headers.get('X-CU-Cost'), '100')
  assert.deepEqual(
    withoutUnknown(body),
    Object.fromEntries(addresses.map((address) => [`${address}-local`, answers.tokenPrice(address)])),
  )
})

test('errors name the fault', async () => {
  const unknown = await pipeline.get(`/v2/pairs/0x${'1'.repeat(40)}-local`)
  assert.equal(unknown.status, 400)
  assert.equal((unknown.body as { code: string }).code, 'unknown_pair')
  const url = await pipeline.gatewayUrl()
  const keyless = await fetch(`${url}/v2/pairs/${scenario.tokenPair}-local`)
  assert.equal(keyless.status, 401)
  assert.equal(keyless.headers.get('content-type')?.split(';')[0], 'application/problem+json')
})
