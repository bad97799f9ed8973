import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../dev/stack.ts'
import { API_KEY, Pipeline } from '../support/pipeline.ts'
import { waitFor } from '../support/wait-for.ts'
import { WsClient } from '../support/ws-client.ts'
import { type Bar, decimal, type Expected, expectedMarket, type PairState } from './expected-market.ts'
import { Scenario } from './scenario.ts'

const BLOCKS = 40

let stack: Stack
let scenario: Scenario
let pipeline: Pipeline
let expected: Expected
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
  expected = await expectedMarket(scenario.market, scenario.tokens, scenario.stable, head.number)
  await waitFor('the last push', () => {
    const swaps = expected.swaps.get(scenario.tokenPair) ?? []
    return client.pushes(subscriptions.tx).length >= swaps.length ? true : undefined
  })
})

after(async () => {
  client?.close()
  await pipeline?.stop()
  await stack?.stop()
})

async function caughtUp(): Promise<void> {
  const { number } = await scenario.market.head()
  await waitFor(`the gateway to reach block ${number}`, async () => {
    const { headers } = await pipeline.get(`/v2/pairs/${scenario.tokenPair}-local`)
    return headers.get('X-Block') === String(number) ? true : undefined
  })
}

test('every swap is pushed once, in order, with the numbers the receipts give', () => {
  for (const [id, pair] of [
    [subscriptions.tx, scenario.tokenPair],
    [subscriptions.stableTx, scenario.stablePair],
  ] as const) {
    const pushed = client.pushes(id).map(({ result }) => result)
    const swaps = expected.swaps.get(pair) ?? []
    assert.ok(swaps.length > 20, `only ${swaps.length} swaps: the scenario does not test much`)
    assert.deepEqual(
      pushed,
      swaps.map((tx) => ({ id: pair, topic: 'tx', tx })),
    )
  }
})

test('the last push of every candle equals the candle folded from the receipts', () => {
  for (const [interval, name] of [
    ['s1', 's1'],
    ['k1', '1'],
    ['k10080', '10080'],
  ] as const) {
    const pushed = new Map<number, unknown>()
    for (const { result } of client.pushes(subscriptions[interval])) {
      const kline = result?.['kline'] as { usd: Bar; eth: Bar }
      pushed.set(kline.usd.time, result)
    }
    const candles = [...(expected.candles.get(scenario.tokenPair) ?? [])].filter(([key]) =>
      key.startsWith(`${interval}/`),
    )
    assert.ok(candles.length > 0)
    assert.deepEqual(
      [...pushed.values()],
      candles.map(([, { usd, eth }]) => ({
        id: `${scenario.tokenPair}-local`,
        interval: name,
        kline: { eth, usd: { ...usd, ...UNKNOWN_WINDOWS } },
        topic: 'kline',
      })),
    )
  }
  const weeks = [...(expected.candles.get(scenario.tokenPair) ?? [])].filter(([key]) =>
    key.startsWith('k10080/'),
  )
  assert.equal(weeks.length, 2, 'the scenario crosses a Monday')
})

const UNKNOWN_WINDOWS = {
  amount_24h: '',
  change: '',
  change_v2: '',
  count_24h: '',
  high_24h: '',
  low_24h: '',
  swap: '',
  volume_24h: '',
}

test('the newest price of each pair equals its reserves', () => {
  const newest = new Map<string, unknown>()
  for (const { result } of client.pushes(subscriptions.price)) {
    const { prices } = result as unknown as { prices: { pair: string }[] }
    for (const entry of prices) newest.set(entry.pair, entry)
  }
  for (const address of [scenario.tokenPair, scenario.stablePair]) {
    const pair = expected.pairs.get(address) as PairState
    const targetIs0 = pair.target === pair.token0
    assert.deepEqual(newest.get(address), {
      chain: 'local',
      pair: address,
      is_main_pair: true,
      target_token: pair.target.address,
      uprice: decimal(targetIs0 ? pair.usd0 : pair.usd1, 40),
      last_price: decimal(pair.lastPrice, 40),
      reserve0: decimal(pair.reserve0, pair.token0.decimals),
      reserve1: decimal(pair.reserve1, pair.token1.decimals),
      price_change: '',
      price_change_24h: '',
      volume_24_u: '',
      direction: pair.direction,
      time: pair.lastTradeAt,
      change: '',
      tvl: decimal(pair.tvlUsd, 18),
      makers_24h: '',
      tx_amount_24h: '',
      tx_count_24h: '',
    })
  }
})

test('GET /v2/pairs/{pair-id} gives reserves, prices and TVL to the last digit', async () => {
  const { status, body, headers } = await pipeline.get(
    `/v2/pairs/${scenario.tokenPair.toUpperCase().replace('0X', '0x')}-local`,
  )
  const pair = expected.pairs.get(scenario.tokenPair) as PairState
  const targetIs0 = pair.target === pair.token0
  assert.equal(status, 200)
  assert.equal(headers.get('X-Block'), String(head.number))
  assert.equal(headers.get('X-Block-Time'), String(head.time))
  assert.equal(headers.get('X-CU-Cost'), '5')
  assert.deepEqual(body, {
    pair: pair.address,
    chain: 'local',
    amm: 'uniswap_v2',
    target_token: pair.target.address,
    token0_address: pair.token0.address,
    token0_symbol: pair.token0.symbol,
    token0_decimal: pair.token0.decimals,
    token0_price_usd: decimal(pair.usd0, 40),
    token0_price_eth: decimal(pair.eth0, 40),
    token1_address: pair.token1.address,
    token1_symbol: pair.token1.symbol,
    token1_decimal: pair.token1.decimals,
    token1_price_usd: decimal(pair.usd1, 40),
    token1_price_eth: decimal(pair.eth1, 40),
    reserve0: decimal(pair.reserve0, pair.token0.decimals),
    reserve1: decimal(pair.reserve1, pair.token1.decimals),
    init_reserve0: decimal(pair.init0, pair.token0.decimals),
    init_reserve1: decimal(pair.init1, pair.token1.decimals),
    tvl: decimal(pair.tvlUsd, 18),
    fdv: fdv(targetIs0 ? pair.usd0 : pair.usd1),
    created_at: pair.createdAt,
    updated_at: pair.updatedAt,
    first_trade_at: pair.firstTradeAt,
    last_trade_at: pair.lastTradeAt,
    price_ath_u: decimal(pair.ath, 40),
    is_main_pair: true,
  })
})

test('GET /v2/tokens/{token-id} gives the token and its pairs', async () => {
  const { status, body, headers } = await pipeline.get(`/v2/tokens/${scenario.token}-local`)
  const pair = expected.pairs.get(scenario.tokenPair) as PairState
  const data = (body as { data: { token: Record<string, unknown>; pairs: Record<string, unknown>[] } }).data
  assert.equal(status, 200)
  assert.equal(headers.get('X-CU-Cost'), '5')
  const { data: _, ...envelope } = body as Record<string, unknown>
  assert.deepEqual(envelope, { status: 1, msg: 'SUCCESS', data_type: 1 })
  assert.deepEqual(Object.fromEntries(DOCUMENTED_TOKEN_FIELDS.map((field) => [field, data.token[field]])), {
    name: 'Pepper',
    symbol: 'PEP',
    chain: 'local',
    current_price_usd: decimal(pair.targetUsd, 40),
    market_cap: '',
    holders: 0,
    tvl: decimal(pair.tvlUsd, 18),
    logo_url: '',
    updated_at: pair.updatedAt,
  })
  assert.equal(data.pairs.length, 1)
  assert.deepEqual(
    Object.fromEntries(DOCUMENTED_PAIR_FIELDS.map((field) => [field, data.pairs[0]?.[field]])),
    {
      amm: 'uniswap_v2',
      chain: 'local',
      pair: pair.address,
      price_change: '',
      price_change_24h: '',
      token0_symbol: pair.token0.symbol,
      token1_symbol: pair.token1.symbol,
      token0_price_usd: decimal(pair.usd0, 40),
      token1_price_usd: decimal(pair.usd1, 40),
      volume_u: '',
      updated_at: pair.updatedAt,
    },
  )
})

const DOCUMENTED_TOKEN_FIELDS = [
  'name',
  'symbol',
  'chain',
  'current_price_usd',
  'market_cap',
  'holders',
  'tvl',
  'logo_url',
  'updated_at',
]

const DOCUMENTED_PAIR_FIELDS = [
  'amm',
  'chain',
  'pair',
  'price_change',
  'price_change_24h',
  'token0_symbol',
  'token1_symbol',
  'token0_price_usd',
  'token1_price_usd',
  'volume_u',
  'updated_at',
]

test('POST /v2/tokens/price gives every known token above the threshold', async () => {
  const ids = [scenario.token, scenario.market.weth, scenario.stable].map((address) => `${address}-local`)
  const unknown = `0x${'1'.repeat(40)}-local`
  const { status, body, headers } = await pipeline.post('/v2/tokens/price', {
    token_ids: [...ids, unknown],
    tvl_min: 0,
  })
  assert.equal(status, 200)
  assert.equal(headers.get('X-CU-Cost'), '100')
  const tokenPair = expected.pairs.get(scenario.tokenPair) as PairState
  const answer = body as Record<string, { current_price_usd: string; tvl: string }>
  const price = (pair: PairState): string => decimal(pair.targetUsd, 40)
  assert.deepEqual(Object.keys(answer).sort(), [...ids].sort())
  assert.equal(answer[ids[0] as string]?.current_price_usd, price(tokenPair))
  assert.equal(answer[ids[0] as string]?.tvl, decimal(tokenPair.tvlUsd, 18))
  assert.equal(answer[ids[1] as string]?.current_price_usd, decimal(expected.nativeUsd, 40))
  assert.equal(answer[ids[2] as string]?.current_price_usd, '1')
})

test('errors say what is wrong', async () => {
  const unknown = await pipeline.get(`/v2/pairs/0x${'1'.repeat(40)}-local`)
  assert.equal(unknown.status, 400)
  assert.equal((unknown.body as { code: string }).code, 'unknown_pair')
  const url = await pipeline.gatewayUrl()
  const keyless = await fetch(`${url}/v2/pairs/${scenario.tokenPair}-local`)
  assert.equal(keyless.status, 401)
  assert.equal(keyless.headers.get('content-type')?.split(';')[0], 'application/problem+json')
})

function fdv(price: bigint): string {
  return decimal((10n ** 18n * price) / 10n ** BigInt(9 + 40 - 18), 18)
}
