import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  MEME,
  MEME_WETH,
  samplePair,
  sampleToken,
  USDC,
  value,
  WETH,
} from '../support/builders/market-samples.ts'
import { expected, ourHeaders, problemOf } from '../support/rigs/gateway-answers.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

let world: GatewayWorld
let gateway: Gateway

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

const PAIR_PATH = `/v2/pairs/${MEME_WETH}-eth`
const TOKEN_PATH = `/v2/tokens/${MEME}-eth`
const upper = (address: string): string => address.toUpperCase().replace('0X', '0x')

const pairBody = {
  pair: MEME_WETH,
  chain: 'eth',
  amm: 'uniswap_v2',
  target_token: MEME,
  token0_address: MEME,
  token0_symbol: 'MEME',
  token0_decimal: 9,
  token0_price_usd: '0.003',
  token0_price_eth: '0.0000015',
  token1_address: WETH,
  token1_symbol: 'WETH',
  token1_decimal: 18,
  token1_price_usd: '2000',
  token1_price_eth: '1',
  reserve0: '2000000.5',
  reserve1: '3',
  init_reserve0: '1000000',
  init_reserve1: '1.5',
  tvl: '12000.5',
  fdv: '3000000',
  created_at: 1_700_000_000,
  updated_at: 1_700_000_120,
  first_trade_at: 1_700_000_060,
  last_trade_at: 1_700_000_110,
  price_ath_u: '0.004',
  is_main_pair: true,
  unknown: ['market_cap', 'high_u', 'low_u'],
}

test('pair detail: from the log before Redis has it, newer than Redis, and from Redis', async () => {
  const first = await world.publish([{ type: 'pair', pair: samplePair() }])
  await gateway.applied(first)
  const answer = await gateway.get(PAIR_PATH)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  assert.deepEqual(answer.body, pairBody)
  assert.deepEqual(ourHeaders(answer), {
    'x-block': String(first.head.number),
    'x-block-time': String(first.head.time),
    'x-cu-cost': '5',
  })

  await world.storeAll()
  const second = await world.publish([{ type: 'pair', pair: samplePair({ updatedAt: 1_700_000_130 }) }])
  await gateway.applied(second)
  const upperCase = await gateway.get(`/v2/pairs/${upper(MEME_WETH)}-eth`)
  assert.deepEqual(upperCase.body, { ...pairBody, updated_at: 1_700_000_130 })

  await world.storeAll()
  await waitUntil(
    'the overlay is empty',
    async () => (await gateway.metric('chaintape_gateway_overlay_documents', { chain: 'eth' })) === 0,
  )
  assert.deepEqual((await gateway.get(PAIR_PATH)).body, { ...pairBody, updated_at: 1_700_000_130 })

  await gateway.applied(await world.publish([{ type: 'pairRemoved', pair: MEME_WETH }], { cause: 'undo' }))
  assert.deepEqual(
    problemOf(await gateway.get(PAIR_PATH)),
    expected(400, 'unknown_pair', 'Unknown pair', 'unknown pair; check the address and chain', [
      { pointer: '#/pair-id', detail: 'unknown pair' },
    ]),
  )
})

test('token detail: the envelope, and the five pairs with the highest TVL', async () => {
  const address = (digit: number): string => `0x${String(digit).repeat(40)}`
  const ranked = (digit: number, tvl: string | undefined) =>
    samplePair({
      address: address(digit),
      tvlUsd: tvl === undefined ? undefined : value(tvl),
      isMain: digit === 3,
    })
  await world.publish([
    { type: 'token', token: sampleToken() },
    { type: 'pair', pair: ranked(3, '700') },
    { type: 'pair', pair: ranked(4, '600') },
    { type: 'pair', pair: ranked(5, '500') },
    { type: 'pair', pair: ranked(6, '400') },
  ])
  await world.storeAll()
  const set = await world.publish([
    { type: 'pair', pair: ranked(4, '50') },
    { type: 'pair', pair: ranked(7, '650') },
    { type: 'pair', pair: ranked(8, '650') },
    { type: 'pair', pair: ranked(9, undefined) },
  ])
  await gateway.applied(set)
  const shown = (digit: number, tvl: string) => ({
    amm: 'uniswap_v2',
    chain: 'eth',
    pair: address(digit),
    price_change: '',
    price_change_24h: '',
    token0_symbol: 'MEME',
    token1_symbol: 'WETH',
    token0_price_usd: '0.003',
    token1_price_usd: '2000',
    volume_u: '',
    updated_at: 1_700_000_120,
    token0_address: MEME,
    token1_address: WETH,
    token0_decimal: 9,
    token1_decimal: 18,
    reserve0: '2000000.5',
    reserve1: '3',
    tvl,
    unknown: ['price_change', 'price_change_24h', 'volume_u'],
  })
  const answer = await gateway.get(TOKEN_PATH)
  assert.deepEqual(answer.body, {
    status: 1,
    msg: 'SUCCESS',
    data_type: 1,
    data: {
      is_audited: false,
      pairs: [shown(3, '700'), shown(7, '650'), shown(8, '650'), shown(5, '500'), shown(6, '400')],
      token: {
        name: 'Meme Coin',
        symbol: 'MEME',
        chain: 'eth',
        current_price_usd: '0.003',
        market_cap: '2400000',
        holders: 321,
        tvl: '12500.75',
        logo_url: '',
        updated_at: 1_700_000_120,
        unknown: [],
      },
    },
  })
  assert.deepEqual(ourHeaders(answer), {
    'x-block': String(set.head.number),
    'x-block-time': String(set.head.time),
    'x-cu-cost': '5',
  })
})

test('token prices: thresholds, unknown tokens, several chains, the most lagging head', async () => {
  const token = (address: string, tvl: string | undefined) =>
    sampleToken({ address, tvlUsd: tvl === undefined ? undefined : value(tvl), fdvUsd: undefined })
  await gateway.applied(
    await world.publish([
      { type: 'token', token: token(WETH, '1000') },
      { type: 'token', token: token(USDC, '999.999999999999999999') },
      { type: 'token', token: token(MEME, undefined) },
    ]),
  )
  const lagging = await world.publish([{ type: 'token', token: token(MEME, '5000') }], {
    chain: 'bsc',
    head: { number: 9, hash: '0x09', time: 1_600_000_000 },
  })
  await gateway.applied(lagging)
  const entry = (id: string, tvl: string | undefined) => ({
    token_id: id,
    current_price_usd: '0.003',
    ...(tvl === undefined ? {} : { tvl }),
    ...{ market_cap: '2400000', holders: 321, updated_at: 1_700_000_120 },
    unknown: [
      ...['price_change_1d', 'price_change_24h'],
      ...(tvl === undefined ? ['tvl'] : []),
      ...['tx_volume_u_24h', 'fdv'],
    ],
  })
  const ids = [
    ...[`${upper(WETH)}-eth`, `${WETH}-eth`, `${USDC}-eth`, `${MEME}-eth`],
    ...[`${MEME}-bsc`, `0x${'b'.repeat(40)}-eth`],
  ]
  const answer = await gateway.post('/v2/tokens/price', { token_ids: ids })
  assert.deepEqual(answer.body, {
    [`${WETH}-eth`]: entry(`${WETH}-eth`, '1000'),
    [`${MEME}-bsc`]: entry(`${MEME}-bsc`, '5000'),
  })
  assert.deepEqual(ourHeaders(answer), { 'x-block': '9', 'x-block-time': '1600000000', 'x-cu-cost': '100' })
  const all = await gateway.post('/v2/tokens/price', { token_ids: ids, tvl_min: 0 })
  assert.deepEqual(all.body, {
    [`${WETH}-eth`]: entry(`${WETH}-eth`, '1000'),
    [`${USDC}-eth`]: entry(`${USDC}-eth`, '999.999999999999999999'),
    [`${MEME}-eth`]: entry(`${MEME}-eth`, undefined),
    [`${MEME}-bsc`]: entry(`${MEME}-bsc`, '5000'),
  })
  const byVolume = { token_ids: ids, tvl_min: 0, tx_24h_volume_min: 1 }
  assert.deepEqual((await gateway.post('/v2/tokens/price', byVolume)).body, {})
  assert.deepEqual((await gateway.post('/v2/tokens/price', { token_ids: [] })).body, {})
  const most = Array.from({ length: 200 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}-eth`)
  assert.deepEqual((await gateway.post('/v2/tokens/price', { token_ids: most })).body, {})
})

test('requests are counted by route and status', async () => {
  const count = (status: number) =>
    gateway.metric('chaintape_gateway_requests_total', {
      route: '/v2/tokens/:tokenId',
      status: String(status),
    })
  const before = await count(200)
  await gateway.get(TOKEN_PATH)
  await waitUntil('it is counted', async () => (await count(200)) === (before ?? 0) + 1)
})
