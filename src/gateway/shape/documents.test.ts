import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  MEME,
  MEME_WETH,
  NO_WINDOWS,
  samplePair,
  sampleToken,
  sampleWindows,
  value,
  WETH,
} from '../../../test/support/builders/market-samples.ts'
import type { Token } from '../../domain/change.ts'
import { pairDetail } from './pair-detail.ts'
import { tokenDetail } from './token-detail.ts'
import { tokenPrice } from './token-price.ts'
import { mainTokenRow, tokenRow } from './token-row.ts'
import { withUnknown } from './unknown-in-push.ts'
import { percentChange, tokenWindows } from './windows.ts'

const tokenAlone = (token: Token) => ({
  ...{ chain: 'eth', token, windows: NO_WINDOWS, listing: undefined, hasLockers: true },
})
/** Nothing was found out about it. */
const UNKNOWN_FACTS = {
  ...{ marketCapUsd: undefined, holding: undefined, origin: undefined, launch: undefined, risk: undefined },
}
const unknownSide = { decimals: undefined, priceUsd: undefined, priceNative: undefined }
const pair = samplePair()
const bare = samplePair({
  token0: { ...pair.token0, ...unknownSide },
  token1: { ...pair.token1, ...unknownSide },
  targetToken: undefined,
  isMain: false,
  tvlUsd: undefined,
  tvlNative: undefined,
  fdvUsd: undefined,
  createdAt: undefined,
  firstTradeAt: undefined,
  lastTradeAt: undefined,
  lastTradePriceUsd: undefined,
  lastSide: undefined,
  athPriceUsd: undefined,
})

test('pair detail', () => {
  assert.deepEqual(pairDetail('eth', pair, undefined, sampleToken()), {
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
    market_cap: '2400000',
    fdv: '3000000',
    created_at: 1_700_000_000,
    updated_at: 1_700_000_120,
    first_trade_at: 1_700_000_060,
    last_trade_at: 1_700_000_110,
    price_ath_u: '0.004',
    is_main_pair: true,
    unknown: ['high_u', 'low_u'],
  })
})

test('pair detail leaves out what is unknown', () => {
  assert.deepEqual(pairDetail('eth', bare, undefined, undefined), {
    pair: MEME_WETH,
    chain: 'eth',
    amm: 'uniswap_v2',
    token0_address: MEME,
    token0_symbol: 'MEME',
    token1_address: WETH,
    token1_symbol: 'WETH',
    updated_at: 1_700_000_120,
    is_main_pair: false,
    unknown: [
      ...['token0_decimal', 'token0_price_usd', 'token0_price_eth'],
      ...['token1_decimal', 'token1_price_usd', 'token1_price_eth'],
      ...['reserve0', 'reserve1', 'init_reserve0', 'init_reserve1', 'tvl', 'market_cap', 'fdv', 'created_at'],
      ...['first_trade_at', 'last_trade_at', 'high_u', 'low_u', 'price_ath_u'],
    ],
  })
})

test('token detail', () => {
  const listing = { logoUrl: 'https://pictures.example/meme.png', isAudited: true }
  assert.deepEqual(tokenDetail('eth', sampleToken(), [{ pair, windows: undefined }], undefined, listing), {
    status: 1,
    msg: 'SUCCESS',
    data_type: 1,
    data: {
      is_audited: true,
      pairs: [
        {
          amm: 'uniswap_v2',
          chain: 'eth',
          pair: MEME_WETH,
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
          tvl: '12000.5',
          unknown: ['price_change', 'price_change_24h', 'volume_u'],
        },
      ],
      token: {
        name: 'Meme Coin',
        symbol: 'MEME',
        chain: 'eth',
        current_price_usd: '0.003',
        market_cap: '2400000',
        holders: 321,
        tvl: '12500.75',
        logo_url: 'https://pictures.example/meme.png',
        updated_at: 1_700_000_120,
        unknown: [],
      },
    },
  })
})

test('token detail keeps the documented fields when they are unknown, and leaves out ours', () => {
  const token = sampleToken({
    name: '',
    symbol: '',
    priceUsd: undefined,
    tvlUsd: undefined,
    ...UNKNOWN_FACTS,
  })
  const detail = tokenDetail('eth', token, [{ pair: bare, windows: undefined }], undefined, undefined)
  assert.deepEqual(detail.data, {
    is_audited: false,
    pairs: [
      {
        amm: 'uniswap_v2',
        chain: 'eth',
        pair: MEME_WETH,
        price_change: '',
        price_change_24h: '',
        token0_symbol: 'MEME',
        token1_symbol: 'WETH',
        token0_price_usd: '',
        token1_price_usd: '',
        volume_u: '',
        updated_at: 1_700_000_120,
        token0_address: MEME,
        token1_address: WETH,
        unknown: [
          ...['price_change', 'price_change_24h', 'token0_price_usd', 'token1_price_usd', 'volume_u'],
          ...['token0_decimal', 'token1_decimal', 'reserve0', 'reserve1', 'tvl'],
        ],
      },
    ],
    token: {
      name: '',
      symbol: '',
      chain: 'eth',
      current_price_usd: '',
      market_cap: '',
      holders: 0,
      tvl: '',
      logo_url: '',
      updated_at: 1_700_000_120,
      unknown: ['current_price_usd', 'market_cap', 'tvl', 'holders'],
    },
  })
})

test('token price', () => {
  assert.deepEqual(tokenPrice(tokenAlone(sampleToken())), {
    token_id: `${MEME}-eth`,
    current_price_usd: '0.003',
    tvl: '12500.75',
    fdv: '3000000',
    market_cap: '2400000',
    holders: 321,
    updated_at: 1_700_000_120,
    unknown: ['price_change_1d', 'price_change_24h', 'tx_volume_u_24h'],
  })
  const unknown = sampleToken({
    ...{ priceUsd: undefined, tvlUsd: undefined, fdvUsd: undefined, ...UNKNOWN_FACTS },
  })
  assert.deepEqual(tokenPrice(tokenAlone(unknown)), {
    token_id: `${MEME}-eth`,
    updated_at: 1_700_000_120,
    unknown: [
      ...['current_price_usd', 'price_change_1d', 'price_change_24h', 'tvl', 'tx_volume_u_24h', 'fdv'],
      ...['market_cap', 'holders'],
    ],
  })
})

const HEAD_TIME = 1_700_000_123
const traded = {
  ...tokenAlone(sampleToken()),
  windows: { ...NO_WINDOWS, windows: sampleWindows(), headTime: HEAD_TIME },
}

test('windows of a pair', () => {
  const detail = pairDetail('eth', pair, sampleWindows(), undefined) as Record<string, unknown>
  const some = (...names: string[]) => Object.fromEntries(names.map((name) => [name, detail[name]]))
  assert.deepEqual(some('high_u', 'low_u', 'price_change_15m', 'volume_u_15m', 'tx_15m_count'), {
    high_u: '0.0032',
    low_u: '0.0028',
    price_change_15m: '-25',
    volume_u_15m: '0',
    tx_15m_count: 0,
  })
  assert.deepEqual(some('price_change_24h', 'volume_u_24h', 'buy_volume_u_24h', 'sell_volume_u_24h'), {
    price_change_24h: '50',
    volume_u_24h: '250.5',
    buy_volume_u_24h: '200.5',
    sell_volume_u_24h: '50',
  })
  assert.deepEqual(some('buys_tx_1h_count', 'sells_tx_1h_count', 'makers_24h', 'buyers_24h', 'sellers_24h'), {
    buys_tx_1h_count: 2,
    sells_tx_1h_count: 1,
    makers_24h: 2,
    buyers_24h: 2,
    sellers_24h: 1,
  })
})

test('token price with windows', () => {
  const { price_change_1d, price_change_24h, tx_volume_u_24h } = tokenPrice(traded)
  assert.deepEqual([price_change_1d, price_change_24h, tx_volume_u_24h], ['25', '50', '250.5'])
  const tomorrow = tokenPrice({ ...traded, windows: { ...traded.windows, headTime: HEAD_TIME + 86_400 } })
  assert.equal(tomorrow.price_change_1d, '0', 'a day without a trade has changed nothing')
})

test('token row', () => {
  const row = tokenRow(traded) as Record<string, unknown>
  assert.deepEqual(
    [
      row['token'],
      row['tx_amount_24h'],
      row['tx_count_24h'],
      row['token_tx_volume_usd_1h'],
      row['token_makers_24h'],
    ],
    [MEME, '80000', 3, '250.5', 2],
  )
  assert.equal('token_tx_volume_usd_1m' in row, false, 'rows have four windows')
  const unknown = tokenAlone(sampleToken({ priceUsd: undefined, ...UNKNOWN_FACTS }))
  const { current_price_usd, market_cap, holders, logo_url } = mainTokenRow(unknown)
  assert.deepEqual([current_price_usd, market_cap, holders, logo_url], ['', '', 0, ''])
})

const FACTS = [
  ...['market_cap', 'holders', 'launch_at', 'created_at', 'launch_price', 'burn_amount', 'lock_amount'],
  ...['logo_url', 'risk_score', 'is_honeypot', 'is_mintable'],
]

function factsOf(token: Token, listing?: { logoUrl: string | undefined; isAudited: boolean }) {
  const row = Object.entries(tokenRow({ ...tokenAlone(token), listing }))
  return Object.fromEntries(row.filter(([name]) => FACTS.includes(name)))
}

test('market cap, holders, launch, burned and locked amounts of a token', () => {
  const listing = { logoUrl: 'https://pictures.example/meme.png', isAudited: false }
  assert.deepEqual(factsOf(sampleToken(), listing), {
    market_cap: '2400000',
    holders: 321,
    launch_at: 1_690_000_060,
    created_at: 1_690_000_000,
    launch_price: '0.0001',
    burn_amount: '150000000',
    lock_amount: '50000000',
    logo_url: 'https://pictures.example/meme.png',
    risk_score: 15,
    is_honeypot: 0,
    is_mintable: 0,
  })
  assert.deepEqual(
    factsOf(sampleToken(UNKNOWN_FACTS)),
    { is_honeypot: -1 },
    'not checked; the rest is left out',
  )
  const risks = [true, false, undefined].map((isHoneypot) => {
    const facts = factsOf(sampleToken({ risk: { score: 70, isHoneypot, isMintable: true } }))
    return [facts['is_honeypot'], facts['is_mintable'], facts['risk_score']]
  })
  assert.deepEqual(risks, [
    [1, 1, 70],
    [0, 1, 70],
    [-1, 1, 70],
  ])
  const unpriced = factsOf(sampleToken({ launch: { time: 5, priceUsd: undefined }, decimals: undefined }))
  assert.deepEqual(
    [unpriced['launch_at'], 'launch_price' in unpriced, 'burn_amount' in unpriced],
    [5, false, false],
  )
})

test('a change in percent is cut off, not rounded', () => {
  const change = (now: bigint, before: bigint) => percentChange(now, before)
  assert.deepEqual(
    [
      change(3n, 2n),
      change(1n, 3n),
      change(2n, 3n),
      change(3n, 3n),
      change(100_001n, 100_000n),
      change(99_999n, 100_000n),
    ],
    ['50', '-66.66', '-33.33', '0', '0', '0'],
  )
  assert.equal(percentChange(value('1'), undefined), undefined)
})

describe('windows that began before the first block read', () => {
  const HOUR = 3_600
  const times = { time: HEAD_TIME, startTime: HEAD_TIME - HOUR }
  const old = { ...pair, createdAt: undefined }

  test('are unknown for an older pair', () => {
    const detail = pairDetail('eth', old, sampleWindows(), undefined, times) as Record<string, unknown>
    assert.deepEqual(
      [detail['volume_u_1h'], detail['volume_u_4h'], detail['high_u']],
      ['250.5', undefined, undefined],
    )
    const { unknown } = detail as { unknown: string[] }
    for (const name of ['created_at', 'volume_u_4h', 'tx_24h_count', 'price_change_24h', 'high_u'])
      assert.ok(unknown.includes(name), name)
    assert.ok(!unknown.includes('volume_u_1h'))
  })

  test('are known for a pair if counted since its creation, which may have been in an old block', () => {
    const seenOf = (createdAt: number) => {
      const seen = pairDetail('eth', { ...pair, createdAt }, sampleWindows(), undefined, times)
      const { volume_u_24h: volume, high_u: high } = seen as Record<string, unknown>
      return [volume, high]
    }
    assert.deepEqual(seenOf(times.startTime), ['250.5', '0.0032'])
    assert.deepEqual(seenOf(times.startTime - 1), [undefined, undefined])
  })

  test('are known for a token once its first transfer is known to be younger', () => {
    const row = (origin: number | undefined) => {
      const token = sampleToken({
        origin: origin === undefined ? undefined : { time: origin, creator: WETH },
      })
      return tokenRow({ ...traded, token, windows: tokenWindows(sampleWindows(), token, times) })
    }
    assert.equal(row(times.startTime).tx_volume_u_24h, '250.5')
    for (const { tx_volume_u_24h, price_change_1d, unknown } of [row(undefined), row(times.startTime - 1)]) {
      assert.deepEqual([tx_volume_u_24h, price_change_1d], [undefined, undefined])
      assert.ok(
        ['tx_volume_u_24h', 'price_change_1d', 'token_makers_4h'].every((name) => unknown.includes(name)),
      )
      assert.ok(!unknown.includes('token_makers_1h'))
    }
  })
})

test('the locked amount is unknown without configured lockers', () => {
  const row = tokenRow({ ...traded, hasLockers: false })
  assert.equal(row.lock_amount, undefined)
  assert.ok(row.unknown.includes('lock_amount') && !row.unknown.includes('burn_amount'))
})

test('a push names its unknown fields, in each part of it', () => {
  const entry = { pair: MEME_WETH, uprice: '', tvl: '7', direction: '', target_token: '' }
  assert.deepEqual(withUnknown({ prices: [entry], topic: 'price' }), {
    prices: [{ ...entry, unknown: ['uprice'] }],
    topic: 'price',
  })
  const kline = { eth: { open: '', time: 1 }, usd: { open: '2', swap: '', time: 1 } }
  assert.deepEqual(withUnknown({ kline }), {
    kline: { eth: { ...kline.eth, unknown: ['open'] }, usd: { ...kline.usd, unknown: [] } },
  })
  assert.deepEqual(withUnknown({ topic: 'revert' }), { topic: 'revert' })
})
