import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { buildBlock, id } from '../../../test/support/arbitraries/market-arbitraries.ts'
import {
  addressOf,
  calmMarket,
  DEEPER_ETH_POOL,
  ETH_POOL,
  type ExampleMarket,
  eth,
  price,
  swap,
  sync,
  TOKEN,
  TOKEN_ETH,
  TOKEN_USDC,
  tokens,
  USDC,
  USDT,
  usd,
  value,
  WETH,
  world,
} from '../../../test/support/builders/example-market.ts'
import type { Pair } from '../../domain/change.ts'
import { newPair } from '../first-records.ts'
import { depthOf, type PairDepth } from '../pair/depth.ts'
import { mainOf, withDepth } from '../token/main-pair.ts'

const tokenPrice = (market: ExampleMarket) => price(market.token(TOKEN).priceUsd)

function candleHigh(market: ExampleMarket, pool: number): string | undefined {
  const highs = [...market.tables.candles.values()]
    .filter(({ pair, interval }) => pair === addressOf(pool) && interval === 'k1')
    .map(({ usd: values }) => price(values?.high))
  return highs.at(-1)
}

describe('a price is pushed up', () => {
  test('and back within one block, with borrowed money: it did not move, but the candle saw it', () => {
    const market = calmMarket().block(
      12,
      sync(TOKEN_ETH, eth(1_000n), tokens(1_000n)),
      swap(TOKEN_ETH, eth(900n), 0n, 0n, tokens(9_000n)),
      sync(TOKEN_ETH, eth(100n), tokens(10_001n)),
      swap(TOKEN_ETH, 0n, tokens(9_001n), eth(900n), 0n),
    )
    assert.equal(tokenPrice(market), '20')
    assert.equal(tokenPrice(market.block(12)), '19.99800019998000199980001999800019998', 'what is left of it')
    assert.equal(candleHigh(market, TOKEN_ETH), '200')
  })

  test('by the last trade of a busy block, to be taken back first thing in the next: it never counts', () => {
    const market = calmMarket().block(
      12,
      sync(TOKEN_ETH, eth(101n), tokens(9_900n)),
      sync(TOKEN_ETH, eth(102n), tokens(9_800n)),
      sync(TOKEN_ETH, eth(1_000n), tokens(1_000n)),
    )
    assert.ok(Number(tokenPrice(market)) < 21)
    market.block(12, sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
    assert.equal(tokenPrice(market), '20')
  })

  test('and stays there for a block: then it is the price', () => {
    const market = calmMarket().block(
      12,
      sync(TOKEN_ETH, eth(101n), tokens(9_900n)),
      sync(TOKEN_ETH, eth(102n), tokens(9_800n)),
      sync(TOKEN_ETH, eth(200n), tokens(5_000n)),
    )
    assert.ok(Number(tokenPrice(market)) < 21)
    assert.equal(tokenPrice(market.block(12)), '80')
  })

  test('of the native coin, inside a block: what is traded in that block is worth what it was', () => {
    const market = calmMarket().block(
      12,
      sync(ETH_POOL, usd(200_000_000n), eth(1_000n)),
      sync(TOKEN_ETH, eth(102n), tokens(9_804n)),
      swap(TOKEN_ETH, eth(2n), 0n, 0n, tokens(196n)),
      sync(ETH_POOL, usd(20_000_000n), eth(10_000n)),
    )
    assert.equal(value(market.lastTrade().valueUsd), '4000')
    assert.equal(price(market.token(WETH).priceUsd), '2000')
  })
})

describe('a pool is made for it', () => {
  test('a thin one asks any price: the deep one is believed', () => {
    const market = calmMarket().block(12, sync(TOKEN_USDC, tokens(1n), usd(1_000n)))
    assert.equal(tokenPrice(market), '20')
    assert.equal(price(market.pair(TOKEN_USDC).token0.priceUsd), '1000', 'its own price is still published')
  })

  test('one of many dollars for the native coin, but fewer than the others: the others are believed', () => {
    const market = calmMarket().block(12, sync(DEEPER_ETH_POOL, eth(1_000n), usd(19_000_000n)))
    market.block(12, sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
    assert.equal(tokenPrice(market), '20')
  })

  test('one that no factory of ours made is not even seen', () => {
    const fake = { address: id(0x99, 20), factory: id(0xf3, 20), token0: TOKEN, token1: USDC }
    const forged = { ...world, pools: [fake] }
    const market = calmMarket()
    const actions = [sync(0, tokens(1_000_000n), usd(900_000_000n))]
    const block = buildBlock(forged, market.chain, { do: 'block', seconds: 12, actions }, 7)
    assert.ok(block.facts.some(({ address }) => address === fake.address))
    market.run.apply(block)
    assert.equal(tokenPrice(market), '20')
    assert.equal(market.tables.pairs.has(fake.address), false)
  })

  test('one that is full of a worthless token looks deep, and is not', () => {
    const pairOf = (address: string, targetRaw: bigint, quoteRaw: bigint): Pair => {
      const pair = newPair({
        address,
        amm: 'any',
        tokens: [TOKEN, WETH],
        reserves: [targetRaw, quoteRaw],
        targetToken: TOKEN,
        tokenOf: () => undefined,
        time: 1,
      })
      const priced = { decimals: 0, priceUsd: 10n ** 40n }
      return {
        ...pair,
        token0: { ...pair.token0, ...priced },
        token1: { ...pair.token1, ...priced },
        tvlUsd: (targetRaw + quoteRaw) * 10n ** 18n,
      }
    }
    const honest = pairOf('0xa1', 100n, 100n)
    const made = pairOf('0xa2', 1_000_000n, 5n)
    const depths = [honest, made].reduce(
      (all: readonly PairDepth[], pair) => withDepth(all, { address: pair.address, depth: depthOf(pair) }),
      [],
    )
    assert.equal(mainOf(depths, undefined)?.pair, '0xa1')
  })
})

test('a stablecoin loses its peg: it is worth less, all else is worth what it was', () => {
  const market = calmMarket().block(12, sync(DEEPER_ETH_POOL, eth(1_000n), usd(2_500_000n)))
  assert.equal(price(market.token(USDT).priceUsd), '0.8')
  market.block(12, sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
  assert.equal(tokenPrice(market), '20')
})
