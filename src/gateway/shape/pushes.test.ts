import assert from 'node:assert/strict'
import test from 'node:test'
import {
  ALONE,
  MEME,
  MEME_WETH,
  pairAlone,
  price,
  ROUTER,
  sampleCandle,
  samplePair,
  sampleToken,
  sampleTrade,
  sampleWindows,
  TX_HASH,
  WALLET,
  WETH,
} from '../../../test/support/builders/market-samples.ts'
import type { TradeHoldings } from '../../domain/change.ts'
import { ACCOUNT_CHANGE } from '../../domain/wallet-balances.ts'
import { klinePush } from './kline.ts'
import { priceEntry, pricePush } from './price-entry.ts'
import { swapPush, tokenSwapPush } from './swap-transaction.ts'

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

const buy = {
  amm: 'uniswap_v2',
  amount_eth: '0.05',
  amount_usd: '100',
  block_number: 100,
  chain: 'eth',
  from_address: WETH,
  from_amount: '0.05',
  from_price_eth: '1',
  from_price_usd: '2000',
  from_reserve: '3',
  from_symbol: 'WETH',
  id: '100-17',
  pair_address: MEME_WETH,
  pair_liquidity_eth: '6',
  pair_liquidity_usd: '12000.5',
  sender: ROUTER,
  target_token: MEME,
  time: 1_700_000_110,
  to: WALLET,
  to_address: MEME,
  to_amount: '32000.123456789',
  to_price_eth: '0.00000155',
  to_price_usd: '0.0031',
  to_reserve: '2000000.5',
  to_symbol: 'MEME',
  transaction: TX_HASH,
  tx_seq: '100000003000017',
  tx_swap_type: 0,
  wallet_address: WALLET,
  wallet_tag: null,
}

test('swap transaction', () => {
  assert.deepEqual(swapPush('eth', sampleTrade()), { id: MEME_WETH, topic: 'tx', tx: buy })
  assert.deepEqual(swapPush('eth', sampleTrade({ side: 'sell' })).tx, { ...buy, tx_swap_type: 1 })
})

test('the profile has the holdings of the wallet in the order of the pair, only for a pair', () => {
  const holdings = {
    ...{ isToken0Sold: false, nativeRaw: 9_007_199_254_740_991n },
    sold: { amountRaw: 123_456_789_012_345_678_901n, accounts: ACCOUNT_CHANGE.closed },
    bought: { amountRaw: 0n, accounts: ACCOUNT_CHANGE.created | ACCOUNT_CHANGE.cleared },
  }
  const trade = sampleTrade({ holdings })
  const profile = [
    `{"token0Address":"${MEME}","token0TotalHolding":0,"token0HasNewAccount":true,`,
    '"token0HasClosedAccount":false,"token0HasClearedAccount":true,',
    `"token1Address":"${WETH}","token1TotalHolding":123.456789012345678901,"token1HasNewAccount":false,`,
    '"token1HasClosedAccount":true,"token1HasClearedAccount":false,',
    '"solTotalHolding":9007199.254740991}',
  ].join('')
  assert.deepEqual(swapPush('eth', trade).tx, { ...buy, profile })
  const { tx_seq: _, ...tokenBased } = buy
  assert.deepEqual(tokenSwapPush('eth', trade).tx, tokenBased)
  const unknown: TradeHoldings = {
    isToken0Sold: true,
    nativeRaw: undefined,
    sold: undefined,
    bought: undefined,
  }
  const profileOf = (held: TradeHoldings) => swapPush('eth', sampleTrade({ holdings: held })).tx.profile
  assert.equal(profileOf(unknown), undefined)
  assert.equal(profileOf({ ...unknown, nativeRaw: 5n }), '{"solTotalHolding":0.000000005}')
  const { sold } = trade
  const withoutDecimals = sampleTrade({ holdings, sold: { ...sold, decimals: undefined } })
  assert.deepEqual(Object.keys(JSON.parse(swapPush('eth', withoutDecimals).tx.profile ?? '')), [
    ...['token0Address', 'token0TotalHolding', 'token0HasNewAccount'],
    ...['token0HasClosedAccount', 'token0HasClearedAccount', 'solTotalHolding'],
  ])
})

test('swap transaction of which nothing but the chain facts is known', () => {
  const trade = sampleTrade()
  const unknown = sampleTrade({
    targetToken: undefined,
    side: undefined,
    sold: { ...trade.sold, ...unknownSide },
    bought: { ...trade.bought, ...unknownSide },
    valueUsd: undefined,
    valueNative: undefined,
    liquidityUsd: undefined,
    liquidityNative: undefined,
  })
  assert.deepEqual(swapPush('eth', unknown).tx, {
    ...buy,
    amount_eth: '',
    amount_usd: '',
    from_amount: '',
    from_price_eth: '',
    from_price_usd: '',
    from_reserve: '',
    pair_liquidity_eth: '',
    pair_liquidity_usd: '',
    target_token: '',
    to_amount: '',
    to_price_eth: '',
    to_price_usd: '',
    to_reserve: '',
    tx_swap_type: -1,
  })
})

const unknown24h = {
  amount_24h: '',
  change: '',
  change_v2: '',
  count_24h: '',
  high_24h: '',
  low_24h: '',
  swap: '',
  volume_24h: '',
}

test('kline push', () => {
  assert.deepEqual(klinePush('eth', sampleCandle(), ALONE), {
    id: `${MEME_WETH}-eth`,
    interval: '1',
    kline: {
      eth: {
        open: '0.00000145',
        high: '0.0000016',
        low: '0.0000014',
        close: '0.00000155',
        volume: '0.12525',
        time: 1_700_000_100,
      },
      usd: {
        open: '0.0029',
        high: '0.0032',
        low: '0.0028',
        close: '0.0031',
        volume: '250.5',
        ...unknown24h,
        time: 1_700_000_100,
      },
    },
    topic: 'kline',
  })
})

test('kline push without prices keeps the interval letter of seconds', () => {
  const empty = { open: '', high: '', low: '', close: '', volume: '' }
  const candle = sampleCandle({ interval: 's1', usd: undefined, native: undefined })
  assert.deepEqual(klinePush('eth', candle, ALONE), {
    id: `${MEME_WETH}-eth`,
    interval: 's1',
    kline: { eth: { ...empty, time: 1_700_000_100 }, usd: { ...empty, ...unknown24h, time: 1_700_000_100 } },
    topic: 'kline',
  })
})

const entry = {
  chain: 'eth',
  pair: MEME_WETH,
  is_main_pair: true,
  target_token: MEME,
  uprice: '0.003',
  last_price: '0.0031',
  reserve0: '2000000.5',
  reserve1: '3',
  price_change: '',
  price_change_24h: '',
  volume_24_u: '',
  direction: 'buy',
  time: 1_700_000_120,
  change: '',
  tvl: '12000.5',
  makers_24h: '',
  tx_amount_24h: '',
  tx_count_24h: '',
}

test('price entry', () => {
  const known = { ...pairAlone(pair), target: sampleToken() }
  assert.deepEqual(pricePush([priceEntry(known)]), { prices: [entry], topic: 'price' })
  assert.deepEqual(priceEntry({ ...known, windows: sampleWindows(), times: { time: 1_700_000_123 } }), {
    ...entry,
    price_change: '25',
    price_change_24h: '50',
    volume_24_u: '250.5',
    change: '50',
    makers_24h: '2',
    tx_amount_24h: '80000',
    tx_count_24h: '3',
  })
  assert.deepEqual(priceEntry(pairAlone(bare)), {
    ...entry,
    is_main_pair: false,
    target_token: '',
    uprice: '',
    last_price: '',
    reserve0: '',
    reserve1: '',
    direction: '',
    tvl: '',
  })
})

test('uprice is the price of the token, whatever this pool asks', () => {
  const target = sampleToken({ priceUsd: price('0.005') })
  const { uprice, last_price } = priceEntry({ ...pairAlone(pair), target })
  assert.deepEqual([uprice, last_price], ['0.005', '0.0031'])
})
