import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  market,
  publishScript,
  type Step,
  settingsOf,
  steps,
} from '../../../test/support/arbitraries/market-arbitraries.ts'
import { type ExampleMarket, price, value, WETH } from '../../../test/support/builders/example-market.ts'
import {
  AGENT,
  COIN,
  FAKE,
  FAKE_TOO,
  HUB,
  holds,
  poolAddress,
  poolOf,
  routedMarket,
  SUB_AGENT,
  trade,
} from '../../../test/support/builders/routed-market.ts'
import { foldChangeSets } from '../../../test/support/reference/change-tables.ts'
import { referenceTables } from '../../../test/support/reference/reference-market.ts'
import { EngineRun } from '../../../test/support/rigs/engine-run.ts'
import { FIRST_RULES } from '../../domain/chain-settings.ts'

const priceOf = (example: ExampleMarket, token: string) => price(example.token(token).priceUsd)

describe('a pair without a quote asset', () => {
  test('is priced through the main pair of one of its tokens: values, candles and windows', () => {
    const example = routedMarket().block(12, trade(HUB, 10n, AGENT, 40n))
    const pair = example.pair(poolOf(HUB, AGENT))
    assert.equal(pair.targetToken, AGENT)
    assert.deepEqual([price(pair.token1.priceUsd), value(pair.tvlUsd)], ['0.5', '800000'])
    const { side, valueUsd } = example.lastTrade()
    assert.deepEqual([side, value(valueUsd)], ['buy', '20'])
    const candle = [...example.tables.candles.values()].find(
      (each) => each.pair === poolAddress(HUB, AGENT) && each.interval === 'k1',
    )
    assert.equal(price(candle?.usd?.close), '0.5')
    const day = example.tables.pairWindows.get(poolAddress(HUB, AGENT))?.lengths.at(-1)
    assert.deepEqual([day?.buys, value(day?.buyUsd)], [1, '20'])
    const ofToken = example.tables.tokenWindows.get(AGENT)?.lengths.at(-1)
    assert.deepEqual([ofToken?.buys, value(ofToken?.buyUsd)], [1, '20'], 'it is the main pair')
  })

  test('is priced over three pairs, but not over four', () => {
    const example = routedMarket()
    assert.equal(priceOf(example, SUB_AGENT), '0.05')
    example.block(12, holds(SUB_AGENT, 1_000_000n, FAKE, 1n), holds(SUB_AGENT, 40_000n, COIN, 100n))
    assert.equal(example.pair(poolOf(SUB_AGENT, COIN)).targetToken, SUB_AGENT, 'the way by COIN is deeper')
    example.block(12, holds(WETH, 1n, COIN, 10_000n)).block(12, holds(AGENT, 400_000n, SUB_AGENT, 4_000_000n))
    example.block(12, holds(SUB_AGENT, 1_000_000n, FAKE_TOO, 1n))
    assert.equal(example.pair(poolOf(SUB_AGENT, FAKE_TOO)).targetToken, undefined)
  })

  test('has no price by the first rules, and gets one with its first event after them', () => {
    const example = routedMarket()
    const pool = poolOf(SUB_AGENT, COIN)
    example.settings({ rules: FIRST_RULES }).block(12, holds(SUB_AGENT, 40_000n, COIN, 100n))
    assert.equal(example.pair(pool).targetToken, undefined)
    example.settings({}).block(12, trade(COIN, 1n, SUB_AGENT, 400n))
    assert.equal(example.pair(pool).targetToken, SUB_AGENT)
    example.undo()
    assert.equal(example.pair(pool).targetToken, undefined)
  })

  test('has no price while the way to a quote asset is shallow, and loses it when the way becomes so', () => {
    const example = routedMarket().block(12, holds(WETH, 0n, HUB, 2_000_000n))
    example.block(12, holds(HUB, 200_000n, AGENT, 800_000n))
    assert.equal(example.pair(poolOf(HUB, AGENT)).token1.priceUsd, undefined)
    assert.equal(priceOf(example, AGENT), undefined)
    example.block(12, holds(WETH, 2_000n, HUB, 2_000_000n)).block(12, holds(HUB, 200_000n, AGENT, 800_000n))
    assert.equal(priceOf(example, AGENT), '0.5')
  })

  test('is worth what the way was worth when the previous block ended, whatever the block does', () => {
    const pushed = routedMarket().block(
      12,
      holds(WETH, 20_000n, HUB, 200_000n),
      holds(HUB, 200_000n, AGENT, 800_000n),
      trade(HUB, 10n, AGENT, 40n),
      holds(WETH, 2_000n, HUB, 2_000_000n),
    )
    assert.equal(value(pushed.lastTrade().valueUsd), '20')
    assert.equal(priceOf(pushed, AGENT), '0.5')
  })
})

test('an explanation has the whole way, with the pairs that it goes through', () => {
  const found = routedMarket().run.engine.explain(SUB_AGENT)
  assert.deepEqual(
    found?.route.map(({ token, kind, worth, pair, depthUsd }) => {
      return [token, kind, price(worth.usd), pair, value(depthUsd)]
    }),
    [
      [AGENT, 'token', '0.5', poolAddress(HUB, AGENT), '40000'],
      [HUB, 'token', '2', poolAddress(WETH, HUB), '4000000'],
      [WETH, 'native', '2000', undefined, undefined],
    ],
  )
  assert.deepEqual([found?.mainPair?.quote, value(found?.mainPair?.depthUsd)], [AGENT, '4000'])
})

test('markets of few quote assets equal those of the model, forks included', () => {
  const routed = market.map((world) => {
    const [first, ...others] = world.pools
    const at = (index: number): string => world.tokens[index]?.address ?? ''
    // Most pools are between the three tokens that are no quote assets, and each has one that leads to a quote asset.
    const ways = [
      [2, 3],
      [3, 4],
      [4, 5],
      [3, 4],
      [4, 5],
      [2, 3],
      [5, 3],
      [0, 4],
    ] as const
    const pools = others.map((pool, place) => {
      const [side0, side1] = ways[place % ways.length] ?? [2, 3]
      return { ...pool, token0: at(side0), token1: at(side1) }
    })
    const quoteAssets = world.quoteAssets.filter(({ kind }) => kind !== 'major')
    const tokens = world.tokens.map((token) => ({ ...token, decimals: 18 }))
    return { ...world, tokens, pools: first === undefined ? pools : [first, ...pools], quoteAssets }
  })
  const amount = fc.bigInt({ min: 10n ** 20n, max: 10n ** 24n })
  const filled = fc.array(
    fc.record({ pool: fc.nat(8), amounts: fc.tuple(amount, amount), newTx: fc.boolean() }),
    { minLength: 4, maxLength: 9, size: 'max' },
  )
  const script = fc.tuple(fc.array(filled, { minLength: 3, maxLength: 5 }), steps).map(([blocks, rest]) => {
    const begun = blocks.map((syncs): Step => {
      return { do: 'block', seconds: 12, actions: syncs.map((each) => ({ do: 'sync', ...each })) }
    })
    return [...begun, ...rest]
  })
  const priced = { tokens: 0, pairs: 0, far: 0 }
  fc.assert(
    fc.property(routed, script, (world, steps) => {
      const { envelopes, canonical } = publishScript(world, steps)
      const run = new EngineRun(settingsOf(world))
      for (const envelope of envelopes) run.apply(envelope)
      const tables = foldChangeSets(run.sets)
      assert.deepEqual(tables, referenceTables(world, canonical))
      const assets = new Set(world.quoteAssets.map(({ address }) => address))
      for (const { token0, token1, tvlUsd, isMain } of tables.pairs.values()) {
        if (assets.has(token0.token) || assets.has(token1.token) || tvlUsd === undefined) continue
        priced.pairs++
        if (isMain) priced.tokens++
      }
      for (const { address } of world.tokens) {
        const route = run.engine.explain(address)?.route ?? []
        if (route.filter(({ kind }) => kind === 'token').length === 2) priced.far++
      }
    }),
    { numRuns: 200 },
  )
  for (const [what, count] of Object.entries(priced)) assert.ok(count > 0, `${count} ${what} by routes`)
})
