import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Action, id } from '../../../test/support/arbitraries/market-arbitraries.ts'
import {
  type ExampleMarket,
  eth,
  price,
  sync,
  USDC,
  USDT,
  value,
  WETH,
} from '../../../test/support/builders/example-market.ts'
import {
  AGENT,
  COIN,
  FAKE,
  FAKE_TOO,
  HUB,
  holds,
  hubMarket,
  poolAddress,
  poolOf,
  routedMarket,
  routedWorld,
  SUB_AGENT,
  trade,
} from '../../../test/support/builders/routed-market.ts'
import { trendingScore } from '../../domain/trending.ts'

const HONEST = [USDC, USDT, WETH, HUB, AGENT, SUB_AGENT, COIN]
const VICTIMS = [HUB, COIN, AGENT, SUB_AGENT]
const TRILLION = 10n ** 12n

/** Price, TVL, main pair, windows and trending score of every token that the attacker did not make. */
function honestNumbers(market: ExampleMarket) {
  const { tokens, tokenWindows } = market.tables
  return HONEST.map((address) => {
    const token = tokens.get(address)
    const windows = tokenWindows.get(address)
    const now = market.chain.at(-1)?.time ?? 0
    const score =
      token && windows && trendingScore(token, { pair: undefined, token: address, ...windows }, now)
    return { address, ...token, updatedAt: undefined, windows, score }
  })
}

/** Everyone trades, and the attacker has a pool of real ETH for this many dollars: a FAKE is worth 2,000. */
function market(dollars: bigint, of = routedWorld): ExampleMarket {
  const coins = eth(dollars) / 2_000n
  return routedMarket(of).block(
    12,
    ...[trade(WETH, 1n, HUB, 1_000n), trade(WETH, 2n, COIN, 200n)],
    ...[trade(HUB, 500n, AGENT, 2_000n), trade(AGENT, 100n, SUB_AGENT, 1_000n)],
    ...(coins === 0n ? [] : [sync(poolOf(WETH, FAKE), coins, coins)]),
  )
}

function run(begun: ExampleMarket, blocks: readonly (readonly Action[])[]): ExampleMarket {
  for (const actions of blocks) begun.block(12, ...actions)
  return begun
}

/** The blocks of an attack change nothing of tokens that others made. */
function assertHarmless(
  dollars: bigint,
  blocks: readonly (readonly Action[])[],
  of = routedWorld,
): ExampleMarket {
  const attacked = run(market(dollars, of), blocks)
  const calm = run(
    market(dollars, of),
    blocks.map(() => []),
  )
  assert.ok(honestNumbers(calm).filter(({ score }) => (score?.score ?? 0) > 0).length >= VICTIMS.length)
  assert.deepEqual(honestNumbers(attacked), honestNumbers(calm))
  return attacked
}

/** A pool in which a victim's token costs a trillion of the attacker's, and trades at that price in both directions. */
function washed(fake: string, victim: string): Action[] {
  return [
    holds(fake, TRILLION, victim, 1n),
    trade(fake, TRILLION, victim, 1n),
    trade(victim, 1n, fake, TRILLION),
    trade(fake, TRILLION, victim, 1n),
  ]
}

describe('a route is made for it', () => {
  for (const victim of VICTIMS) {
    const symbol = { [HUB]: 'HUB', [COIN]: 'COIN', [AGENT]: 'AGENT', [SUB_AGENT]: 'SUB_AGENT' }[victim]

    test(`of two pairs: it moves neither price nor TVL nor trending of ${symbol}`, () => {
      for (const dollars of [900n, 4_000n, 40_000n])
        assertHarmless(dollars, [washed(FAKE, victim), washed(FAKE, victim), []])
    })

    test(`of three pairs: neither does it for ${symbol}`, () => {
      for (const dollars of [4_000n, 40_000n]) {
        const far = [holds(FAKE, TRILLION, FAKE_TOO, TRILLION), trade(FAKE, TRILLION, FAKE_TOO, TRILLION)]
        const attacked = assertHarmless(dollars, [
          far,
          [],
          washed(FAKE_TOO, victim),
          washed(FAKE_TOO, victim),
        ])
        assert.equal(
          price(attacked.token(FAKE_TOO).priceUsd),
          '2000',
          'of his own token he may claim what he likes',
        )
      }
    })
  }

  test('with ten times the money of a victim: it is not enough', () => {
    const attacked = assertHarmless(2_000_000n, [washed(FAKE, COIN), washed(FAKE, COIN)])
    assert.equal(attacked.pair(poolOf(COIN, FAKE)).targetToken, COIN, 'its own price is still published')
    assert.equal(price(attacked.pair(poolOf(COIN, FAKE)).token0.priceUsd), `${2_000n * TRILLION}`)
  })

  test('with many pools: none of them counts', () => {
    const pools = Array.from({ length: 20 }, (_, at) => {
      return { address: id(0x5000 + at, 20), factory: id(0xf1, 20), token0: COIN, token1: FAKE }
    })
    const first = routedWorld.pools.length
    const of = { ...routedWorld, pools: [...routedWorld.pools, ...pools] }
    const filled = pools.map((_, at) => sync(first + at, eth(1n), eth(TRILLION)))
    assertHarmless(2_000_000n, [filled, filled], of)
  })

  test('with money that is there for a block only: it counts for as long, and leaves nothing', () => {
    const attacked = run(market(40_000_000n), [washed(FAKE, COIN), [holds(WETH, 0n, FAKE, 20_000n)], []])
    assert.equal(attacked.token(COIN).mainPair, poolAddress(COIN, FAKE), 'two hundred times the money')
    attacked.block(12, holds(WETH, 100n, COIN, 10_000n))
    const { mainPair, priceUsd, tvlUsd } = attacked.token(COIN)
    assert.deepEqual([mainPair, price(priceUsd), value(tvlUsd)], [poolAddress(WETH, COIN), '20', '400000'])
  })

  test('with borrowed money inside a block: it never counts', () => {
    const lent = [
      holds(WETH, 100_000n, FAKE, 100_000n),
      ...washed(FAKE, COIN),
      holds(WETH, 0n, FAKE, 100_000n),
    ]
    assertHarmless(0n, [lent, washed(FAKE, COIN), lent])
  })

  test('in a circle, or from below the floor: it makes no price at all', () => {
    for (const dollars of [0n, 900n]) {
      const far = [holds(FAKE, TRILLION, FAKE_TOO, TRILLION), trade(FAKE, 1n, FAKE_TOO, 1n)]
      const attacked = run(market(dollars), [far, far, far])
      assert.equal(attacked.token(FAKE_TOO).priceUsd, undefined)
      assert.equal(attacked.lastTrade().valueUsd, undefined)
    }
  })

  test('before a token has any other price: that one counts as soon as it is deeper', () => {
    const fresh = run(hubMarket(), [[holds(WETH, 20n, FAKE, 20n)], washed(FAKE, AGENT)])
    assert.equal(fresh.token(AGENT).mainPair, poolAddress(AGENT, FAKE))
    fresh.block(12, holds(HUB, 200_000n, AGENT, 800_000n))
    const { mainPair, priceUsd, tvlUsd } = fresh.token(AGENT)
    assert.deepEqual([mainPair, price(priceUsd), value(tvlUsd)], [poolAddress(HUB, AGENT), '0.5', '800000'])
  })
})
