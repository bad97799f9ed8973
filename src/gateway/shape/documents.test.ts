import assert from 'node:assert/strict'
import test from 'node:test'
import { MEME, MEME_WETH, samplePair, sampleToken, WETH } from '../../../test/support/market-samples.ts'
import { pairDetail } from './pair-detail.ts'
import { tokenDetail } from './token-detail.ts'
import { tokenPrice } from './token-price.ts'

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
  assert.deepEqual(pairDetail('eth', pair), {
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
  })
})

test('pair detail leaves out what is unknown', () => {
  assert.deepEqual(pairDetail('eth', bare), {
    pair: MEME_WETH,
    chain: 'eth',
    amm: 'uniswap_v2',
    token0_address: MEME,
    token0_symbol: 'MEME',
    token1_address: WETH,
    token1_symbol: 'WETH',
    updated_at: 1_700_000_120,
    is_main_pair: false,
  })
})

test('token detail', () => {
  assert.deepEqual(tokenDetail('eth', sampleToken(), [pair]), {
    status: 1,
    msg: 'SUCCESS',
    data_type: 1,
    data: {
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
        },
      ],
      token: {
        name: 'Meme Coin',
        symbol: 'MEME',
        chain: 'eth',
        current_price_usd: '0.003',
        market_cap: '',
        holders: 0,
        tvl: '12500.75',
        logo_url: '',
        updated_at: 1_700_000_120,
      },
    },
  })
})

test('token detail keeps the documented fields when they are unknown, and leaves out ours', () => {
  const token = sampleToken({ name: '', symbol: '', priceUsd: undefined, tvlUsd: undefined })
  assert.deepEqual(tokenDetail('eth', token, [bare]).data, {
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
    },
  })
})

test('token price', () => {
  assert.deepEqual(tokenPrice('eth', sampleToken()), {
    token_id: `${MEME}-eth`,
    current_price_usd: '0.003',
    tvl: '12500.75',
    fdv: '3000000',
    updated_at: 1_700_000_120,
  })
  const unknown = sampleToken({ priceUsd: undefined, tvlUsd: undefined, fdvUsd: undefined })
  assert.deepEqual(tokenPrice('eth', unknown), { token_id: `${MEME}-eth`, updated_at: 1_700_000_120 })
})
