import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Action } from '../../test/support/arbitraries/market-arbitraries.ts'
import {
  addressOf,
  DEEPER_ETH_POOL,
  ETH_POOL,
  ExampleMarket,
  eth,
  ethAt,
  price,
  STABLE_POOL,
  swap,
  sync,
  TOKEN,
  TOKEN_ETH,
  TOKEN_USDC,
  tokens,
  UNPRICED,
  USDC,
  USDT,
  usd,
  value,
  WETH,
  world,
} from '../../test/support/builders/example-market.ts'

describe('prices', () => {
  test('3,000,000 USDC against 1,000 WETH make a WETH worth 3,000 dollars', () => {
    const market = ethAt(3_000n)
    const weth = market.token(WETH)
    assert.equal(price(weth.priceUsd), '3000')
    assert.equal(price(weth.priceNative), '1')
    assert.equal(weth.mainPair, addressOf(ETH_POOL))
    const pair = market.pair(ETH_POOL)
    assert.equal(pair.targetToken, WETH)
    assert.equal(value(pair.tvlUsd), '6000000')
    assert.equal(pair.tvlNative, undefined, 'while the block lasts, only what was known before it counts')
    market.block(12, sync(ETH_POOL, usd(3_000_000n), eth(1_000n)))
    assert.equal(value(market.pair(ETH_POOL).tvlNative), '1999.999999999999999999')
  })

  test('the trade price follows from the amounts paid, the pool price from the reserves', () => {
    const market = ethAt(3_000n).block(
      12,
      sync(TOKEN_ETH, eth(12n), tokens(40_000n)),
      swap(TOKEN_ETH, eth(2n), 0n, 0n, tokens(10_000n)),
    )
    const trade = market.lastTrade()
    // 2 ETH for 10,000 tokens: 0.0002 ETH, or 0.6 dollars, for each.
    assert.equal(trade.side, 'buy')
    assert.deepEqual([trade.sold.token, trade.bought.token], [WETH, TOKEN])
    assert.equal(price(trade.bought.priceNative), '0.0002')
    assert.equal(price(trade.bought.priceUsd), '0.6')
    assert.equal(price(trade.sold.priceUsd), '3000')
    assert.equal(value(trade.valueUsd), '6000')
    assert.equal(value(trade.valueNative), '2')
    // 12 ETH against 40,000 tokens: 0.0003 ETH, or 0.9 dollars, for each; twice 12 ETH are in the pool.
    assert.equal(value(trade.liquidityUsd), '72000')
    const pair = market.pair(TOKEN_ETH)
    assert.equal(price(pair.token1.priceNative), '0.0003')
    assert.equal(price(pair.token1.priceUsd), '0.9')
    assert.equal(price(pair.lastTradePriceUsd), '0.6')
    assert.equal(value(pair.tvlNative), '24')
    assert.equal(value(pair.fdvUsd), '900000')
    const token = market.token(TOKEN)
    assert.equal(price(token.priceUsd), '0.9')
    assert.equal(value(token.fdvUsd), '900000')
  })

  test('a price that does not come out even is cut off, never rounded up', () => {
    const market = new ExampleMarket().block(12, sync(TOKEN_USDC, tokens(3n), usd(2n)))
    assert.equal(price(market.token(TOKEN).priceUsd), `0.${'6'.repeat(40)}`)
    assert.equal(value(market.pair(TOKEN_USDC).tvlUsd), '3.999999999999999999')
  })

  test('a flash swap that is paid back in kind is no trade', () => {
    const market = new ExampleMarket().block(
      12,
      sync(TOKEN_USDC, tokens(100n), usd(100n)),
      swap(TOKEN_USDC, tokens(5n), 0n, tokens(5n), 0n),
      swap(TOKEN_USDC, tokens(5n), usd(1n), 0n, 0n),
    )
    assert.equal(market.tables.trades.size, 0)
    assert.equal(market.tables.candles.size, 0)
  })

  test('a pool of two unknown tokens has trades but no prices, and no candles', () => {
    const market = new ExampleMarket().block(
      12,
      sync(UNPRICED, tokens(100n), eth(100n)),
      swap(UNPRICED, tokens(1n), 0n, 0n, eth(1n)),
    )
    const trade = market.lastTrade()
    assert.deepEqual([trade.targetToken, trade.side, trade.valueUsd], [undefined, undefined, undefined])
    assert.deepEqual([trade.sold.token, trade.sold.amountRaw], [TOKEN, tokens(1n)])
    assert.equal(market.tables.candles.size, 0)
    assert.equal(market.pair(UNPRICED).tvlUsd, undefined)
  })

  test('a pool that was emptied has no price, and neither has its token', () => {
    const market = new ExampleMarket().block(12, sync(TOKEN_USDC, tokens(100n), usd(100n)))
    assert.equal(price(market.token(TOKEN).priceUsd), '1')
    market.block(12, sync(TOKEN_USDC, 0n, 0n))
    const { priceUsd, mainPair, tvlUsd } = market.token(TOKEN)
    assert.deepEqual([priceUsd, mainPair, tvlUsd], [undefined, undefined, undefined])
    assert.equal(market.pair(TOKEN_USDC).isMain, false)
  })
})

describe('stablecoins', () => {
  test("a stablecoin is a dollar, and its native price follows the native coin's", () => {
    const market = ethAt(2_000n)
    assert.equal(price(market.token(USDC).priceUsd), '1')
    assert.equal(price(market.token(USDC).priceNative), '0.0005')
    assert.equal(value(market.token(USDC).fdvUsd), '5000000')
    market.block(12, sync(ETH_POOL, usd(4_000_000n), eth(1_000n)))
    assert.equal(price(market.token(USDC).priceNative), '0.00025')
  })

  test('an empty pair does not take the dollar from a stablecoin', () => {
    const market = new ExampleMarket().block(12, { do: 'create', pool: STABLE_POOL, newTx: true })
    assert.equal(market.pair(STABLE_POOL).targetToken, USDT)
    assert.equal(price(market.token(USDT).priceUsd), '1')
    assert.equal(value(market.token(USDT).fdvUsd), '7000000')
  })

  test('half of the stablecoin liquidity determines the price of the native coin', () => {
    const market = ethAt(1_000n)
      .block(12, sync(DEEPER_ETH_POOL, eth(1_000n), usd(2_000_000n)))
      .block(12, sync(TOKEN_ETH, eth(10n), tokens(10n)))
    assert.equal(price(market.token(WETH).priceUsd), '2000')
    assert.equal(price(market.token(TOKEN).priceUsd), '2000')
    market.block(12, sync(DEEPER_ETH_POOL, eth(100n), usd(200_000n)), sync(TOKEN_ETH, eth(10n), tokens(10n)))
    assert.equal(price(market.token(WETH).priceUsd), '1000')
    assert.equal(price(market.token(TOKEN).priceUsd), '1000')
  })

  test('a lower-ranked stablecoin with a pair of its own is priced by it', () => {
    const market = ethAt(2_000n).block(12, sync(STABLE_POOL, usd(1_000n), usd(900n)))
    assert.equal(price(market.token(USDT).priceUsd), '0.9')
    assert.equal(price(market.token(USDT).priceNative), '0.00045')
    market.block(12, sync(ETH_POOL, usd(4_000_000n), eth(1_000n)))
    assert.deepEqual(
      [price(market.token(USDT).priceUsd), price(market.token(USDT).priceNative)],
      ['0.9', '0.00045'],
      'both are of the same moment',
    )
  })
})

describe('candles', () => {
  test('open, high, low, close and volume, by the order in the chain and not by time', () => {
    // The first block is at 2023-11-14T22:13:22Z; the last one is in the minute after.
    const market = new ExampleMarket()
      .block(
        12,
        swap(TOKEN_USDC, 0n, usd(30n), tokens(10n), 0n),
        swap(TOKEN_USDC, tokens(10n), 0n, 0n, usd(50n)),
      )
      .block(12, swap(TOKEN_USDC, 0n, usd(20n), tokens(20n), 0n))
      .block(60, swap(TOKEN_USDC, tokens(5n), 0n, 0n, usd(20n)))
    const candles = [...market.tables.candles.values()]
      .filter(({ interval }) => interval === 'k1')
      .map(({ start, tradeCount, usd: values }) => ({
        start: new Date(start * 1_000).toISOString().slice(11, 19),
        tradeCount,
        ohlc: [values?.open, values?.high, values?.low, values?.close].map(price).join(' '),
        volume: value(values?.volume),
      }))
    assert.deepEqual(candles, [
      { start: '22:13:00', tradeCount: 3, ohlc: '3 5 1 1', volume: '100' },
      { start: '22:14:00', tradeCount: 1, ohlc: '4 4 4 4', volume: '20' },
    ])
    const wholeDay = [...market.tables.candles.values()].find(({ interval }) => interval === 'k1440')
    assert.deepEqual(
      [wholeDay?.tradeCount, price(wholeDay?.usd?.close), value(wholeDay?.usd?.volume)],
      [4, '4', '120'],
    )
    assert.equal(wholeDay?.native, undefined, 'without a native price there are no native candles')
  })

  test('in the quote token they are made of the amounts alone, whatever that token is worth', () => {
    const bought = swap(TOKEN_ETH, eth(1n), 0n, 0n, tokens(2_230_000n))
    const sold = swap(TOKEN_ETH, 0n, tokens(1_000_000n), eth(11n) / 25n, 0n)
    const market = new ExampleMarket().block(12, bought, sold)
    const day = () => [...market.tables.candles.values()].find(({ interval }) => interval === 'k1440')
    const open = '0.0000004484304932735426008968609865470852'
    const inQuote = (): unknown => {
      const { open, high, low, close, volume } = day()?.quote ?? {}
      return [...[open, high, low, close].map(price), value(volume)]
    }
    assert.equal(day()?.usd, undefined, 'nobody knows what a WETH is worth')
    assert.deepEqual(inQuote(), [open, open, '0.00000044', '0.00000044', '1.44'])
    // Once it is known, there is a candle in dollars too, of what was traded since: 3 WETH at 3,000.
    market.block(12, sync(ETH_POOL, usd(3_000_000n), eth(1_000n)))
    market.block(12, swap(TOKEN_ETH, eth(3n), 0n, 0n, tokens(4_000_000n)))
    assert.deepEqual(inQuote(), [open, '0.00000075', '0.00000044', '0.00000075', '4.44'])
    assert.deepEqual([day()?.tradeCount, value(day()?.usd?.volume)], [3, '9000'])
    assert.deepEqual(day()?.quote, day()?.native)
  })

  test('in a stablecoin they are the ones in dollars', () => {
    const market = new ExampleMarket().block(
      12,
      swap(TOKEN_USDC, 0n, usd(30n), tokens(10n), 0n),
      swap(TOKEN_USDC, tokens(10n), 0n, 0n, usd(50n)),
    )
    for (const candle of market.tables.candles.values()) assert.deepEqual(candle.quote, candle.usd)
    assert.ok(market.tables.candles.size > 0)
  })

  test('an undo takes a candle back to what it was, or away', () => {
    const market = new ExampleMarket().block(12, swap(TOKEN_USDC, 0n, usd(30n), tokens(10n), 0n))
    const before = market.tables
    market.block(12, swap(TOKEN_USDC, 0n, usd(90n), tokens(10n), 0n)).undo()
    assert.deepEqual(market.tables, before)
    market.block(3_600, swap(TOKEN_USDC, 0n, usd(90n), tokens(10n), 0n)).undo()
    assert.deepEqual(market.tables, before)
    market.undo()
    for (const [name, table] of Object.entries(market.tables)) assert.equal(table.size, 0, name)
  })
})

describe('main pair', () => {
  test('the deepest pair is the main one; the price comes from it', () => {
    const market = ethAt(2_000n).block(12, sync(TOKEN_USDC, tokens(1_000n), usd(5_000n)))
    assert.equal(market.token(TOKEN).mainPair, addressOf(TOKEN_USDC))
    assert.equal(price(market.token(TOKEN).priceUsd), '5')
    // 10 ETH on each side are 40,000 dollars, more than the 10,000 of the other.
    market.block(12, sync(TOKEN_ETH, eth(10n), tokens(2_500n)))
    const token = market.token(TOKEN)
    assert.equal(token.mainPair, addressOf(TOKEN_ETH))
    assert.equal(price(token.priceUsd), '8')
    assert.equal(value(token.mainPairTvlUsd), '40000')
    assert.equal(value(token.tvlUsd), '50000')
    assert.deepEqual([market.pair(TOKEN_USDC).isMain, market.pair(TOKEN_ETH).isMain], [false, true])
    market.undo()
    assert.deepEqual([market.pair(TOKEN_USDC).isMain, market.tables.pairs.size], [true, 2])
    assert.equal(price(market.token(TOKEN).priceUsd), '5')
  })
  test('of equally deep pairs the first one stays the main pair; in one block, the lower address wins', () => {
    // 5,000 dollars on each side of both.
    const inUsdc = sync(TOKEN_USDC, tokens(1_000n), usd(5_000n))
    const inEth = sync(TOKEN_ETH, eth(5n) / 2n, tokens(500n))
    const mainAfter = (...blocks: Action[][]) => {
      const market = ethAt(2_000n)
      for (const actions of blocks) market.block(12, ...actions)
      assert.deepEqual(
        [market.pair(TOKEN_USDC), market.pair(TOKEN_ETH)].map(({ tvlUsd }) => value(tvlUsd)),
        ['10000', '10000'],
      )
      return world.pools.findIndex(({ address }) => address === market.token(TOKEN).mainPair)
    }
    assert.equal(mainAfter([inUsdc], [inEth]), TOKEN_USDC)
    assert.equal(mainAfter([inEth], [inUsdc]), TOKEN_ETH)
    assert.equal(mainAfter([inUsdc, inEth]), TOKEN_ETH)
    assert.equal(mainAfter([inEth, inUsdc]), TOKEN_ETH)
  })

  test('another pair takes over once it is more than a tenth deeper', () => {
    const market = new ExampleMarket().block(12, sync(TOKEN_USDC, tokens(1_000n), usd(5_000n)))
    market.block(12, sync(ETH_POOL, usd(2_000_000n), eth(1_000n)))
    // 5,500 dollars, then one cent more.
    market.block(12, sync(TOKEN_ETH, eth(11n) / 4n, tokens(500n)))
    assert.equal(market.token(TOKEN).mainPair, addressOf(TOKEN_USDC))
    market.block(12, sync(TOKEN_ETH, eth(11n) / 4n + eth(1n) / 200_000n, tokens(500n)))
    assert.equal(market.token(TOKEN).mainPair, addressOf(TOKEN_ETH))
  })
})
