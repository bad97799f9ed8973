import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addressOf,
  calmMarket,
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
  USDC,
  USDT,
  usd,
  value,
  WETH,
} from '../../../test/support/builders/example-market.ts'
import type { Pair } from '../../domain/change.ts'
import { newPair } from '../first-records.ts'
import { depthOf } from '../pair/depth.ts'
import { mainOf, NO_QUOTED_PAIRS, withQuotedPair } from './main-pair.ts'

/** The example of docs/data-rules.md. */
function market(): ExampleMarket {
  return calmMarket()
    .block(12, sync(TOKEN_USDC, tokens(5_000n), usd(100_000n)))
    .block(
      12,
      swap(TOKEN_USDC, 0n, usd(20n), tokens(1n), 0n),
      swap(TOKEN_ETH, 0n, tokens(200n), eth(2n), 0n),
      swap(ETH_POOL, 0n, eth(1n), usd(2_000n), 0n),
    )
}

const dayOf = (example: ExampleMarket, token: string) => {
  const windows = example.tables.tokenWindows.get(token)
  const day = windows?.lengths.at(-1)
  return [day?.buys, value(day?.buyUsd), day?.sells, value(day?.sellUsd), String(windows?.amountRaw)]
}

test('TVL and volume of the first stablecoin include all pools quoted in it', () => {
  const example = market()
  const { mainPair, mainPairTvlUsd, tvlUsd, priceUsd } = example.token(USDC)
  assert.equal(price(priceUsd), '1')
  assert.equal(value(tvlUsd), '40200000')
  assert.deepEqual([mainPair, value(mainPairTvlUsd)], [addressOf(ETH_POOL), '40000000'])
  assert.deepEqual(dayOf(example, USDC), [1, '2000', 1, '20', String(usd(2_020n))])
})

test('TVL and volume of the native coin include pools where it is the target and where it is the quote', () => {
  const example = market()
  assert.equal(value(example.token(WETH).tvlUsd), '40400000')
  assert.equal(example.token(WETH).mainPair, addressOf(ETH_POOL))
  assert.deepEqual(dayOf(example, WETH), [1, '4000', 1, '2000', String(eth(3n))])
  assert.equal(example.pair(ETH_POOL).isMain, true)
})

test('isMain refers to the target of a pair, not to its quote asset', () => {
  const example = new ExampleMarket().block(12, sync(TOKEN_USDC, tokens(5_000n), usd(100_000n)))
  example.block(12, sync(ETH_POOL, usd(20_000_000n), eth(10_000n)))
  assert.equal(example.token(USDC).mainPair, addressOf(ETH_POOL))
  assert.equal(example.pair(TOKEN_USDC).isMain, true, 'of the token')
  const switched = [...example.tables.switches.values()].find(({ token }) => token === USDC)
  assert.deepEqual(
    [switched?.oldPair, switched?.newPair, switched?.reason],
    [addressOf(TOKEN_USDC), addressOf(ETH_POOL), 'deeper'],
  )
})

test('the first pair that prices a quote asset becomes its main pair', () => {
  const example = ethAt(2_000n, 10_000n)
  example.block(12, sync(STABLE_POOL, usd(1_000n), usd(990n)))
  assert.equal(example.token(USDT).mainPair, addressOf(STABLE_POOL))
  assert.equal(price(example.token(USDT).priceUsd), '0.99')
})

test('an undo restores the totals, and the next block adds to them', () => {
  const before = market().tables
  const example = market()
    .block(12, sync(TOKEN_USDC, 0n, 0n))
    .undo()
  assert.deepEqual(example.tables.tokens.get(USDC), before.tokens.get(USDC))
  assert.deepEqual(example.tables.tokenWindows.get(USDC), before.tokenWindows.get(USDC))
  example.block(12, sync(TOKEN_USDC, tokens(50n), usd(1_000n)))
  assert.equal(value(example.token(USDC).tvlUsd), '40002000')
})

test('an undo does not publish a quote asset whose document is as it was', () => {
  // Within one second, so that not even the time of its last update changes when an empty pool is quoted in it.
  const example = ethAt(2_000n).block(0, sync(ETH_POOL, usd(2_000_000n), eth(1_000n)))
  const before = example.token(WETH)
  example.block(0, sync(TOKEN_ETH, 0n, 0n))
  assert.deepEqual(example.token(WETH), before)
  example.undo()
  const restored = example.run.sets
    .at(-1)
    ?.changes.flatMap((each) => (each.type === 'token' ? each.token : []))
  assert.deepEqual(restored, [])
})

test('explain lists the pools of a quote asset and its price', () => {
  const found = market().run.engine.explain(USDC)
  assert.ok(found)
  assert.deepEqual(
    [found.mainPair?.pair, value(found.mainPair?.depthUsd), price(found.mainPair?.counted)],
    [addressOf(ETH_POOL), '20000000', '1'],
  )
  assert.deepEqual(
    found.route.map(({ token, kind, worth }) => [token, kind, price(worth.usd)]),
    [[USDC, 'stable', '1']],
  )
  assert.deepEqual(
    found.shallowerPairs.map(({ pair }) => pair),
    [addressOf(TOKEN_USDC)],
  )
})

/** A pair quoted in USDC whose sides have the given values in dollars. */
function quoted(address: string, dollars: bigint, targetDollars: bigint): Pair {
  const reserves = [targetDollars, dollars]
  const tokenOf = () => undefined
  const pair = newPair({
    ...{ address, amm: 'any', tokens: [TOKEN, USDC], reserves, targetToken: TOKEN, tokenOf, time: 1 },
  })
  const token1 = { ...pair.token1, decimals: 0, priceUsd: 10n ** 40n }
  return { ...pair, token1, tvlUsd: (dollars + targetDollars) * 10n ** 18n }
}

const deep = (pair: Pair) => ({ address: pair.address, depth: depthOf(pair) })

const idOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

test('the target side of a pool counts for its quote asset up to ten times the quote side', () => {
  const honest = withQuotedPair(NO_QUOTED_PAIRS, undefined, deep(quoted(idOf(1), 100n, 1_000n)), undefined)
  assert.equal(value(honest.tvlUsd), '1100')
  const made = quoted(idOf(2), 5n, 10n ** 30n)
  const both = withQuotedPair(honest, undefined, deep(made), undefined)
  assert.equal(value(both.tvlUsd), '1155')
  const left = withQuotedPair(both, depthOf(made), deep({ ...made, tvlUsd: undefined }), undefined)
  assert.deepEqual(left, honest)
})

test('the deepest pools are listed, and the main pair even if it is shallow', () => {
  let known = NO_QUOTED_PAIRS
  for (let pool = 1; pool <= 1_000; pool++) {
    known = withQuotedPair(known, undefined, deep(quoted(idOf(pool), BigInt(pool), BigInt(pool))), idOf(1))
  }
  assert.equal(known.deepest.length, 16)
  assert.equal(known.deepest[0]?.pair, idOf(1), 'the main pair')
  assert.equal(mainOf(known.deepest, undefined)?.pair, idOf(1_000))
  assert.equal(value(known.tvlUsd), String(1_000 * 1_001))
})
