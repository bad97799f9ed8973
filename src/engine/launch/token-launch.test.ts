import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { price, value } from '../../../test/support/builders/example-market.ts'
import {
  AGENT,
  AGENT_POOL,
  CURVE_VIRTUALS,
  clanker,
  ether,
  LaunchMarket,
  MEME,
  MEME_POOL,
  millions,
  OTHER_LAUNCHPAD,
  pool,
  virtuals,
} from '../../../test/support/builders/launch-market.ts'
import type { Change, ChangeSet } from '../../domain/change.ts'

function switchesOf({ changes }: ChangeSet) {
  return changes
    .filter((change): change is Extract<Change, { type: 'switch' }> => change.type === 'switch')
    .map(({ switch: { oldPair, newPair, reason } }) => [oldPair, newPair, reason])
}

const launched = [pool.create(), pool.sync(ether(10_000n), millions(100n)), clanker.create()]

describe('a token that starts in a pool', () => {
  test('has graduated when it is created', () => {
    const market = new LaunchMarket(MEME_POOL)
    const { time } = market.block(...launched).head
    const platform = { name: 'clanker', createdAt: time, progressPpm: 1_000_000, graduatedAt: time }
    assert.deepEqual(market.token.platform, platform)
    assert.equal(market.token.mainPair, MEME_POOL)
    market.block(clanker.create(), virtuals.graduate())
    assert.deepEqual(market.token.platform, platform, 'once')
  })

  test('is not launched if a fork undoes that', () => {
    const market = new LaunchMarket(MEME_POOL)
    market.block(pool.create(), pool.sync(ether(10_000n), millions(100n)))
    const state = market.run.stateHash()
    market.block(clanker.create())
    market.undo()
    assert.deepEqual([market.token.platform, market.run.stateHash()], [undefined, state])
  })

  test('is not there if nothing but the event names it', () => {
    const market = new LaunchMarket(MEME_POOL)
    market.block(clanker.create(), virtuals.graduate(AGENT), virtuals.drain())
    assert.deepEqual(
      [market.tables.tokens.get(MEME), market.tables.tokens.get(AGENT)],
      [undefined, undefined],
    )
  })
})

/** Created, 100 million sold for 2 WETH, 10 million bought back for 0.5. */
function traded(): LaunchMarket {
  const market = new LaunchMarket(CURVE_VIRTUALS)
  market.block(virtuals.create(), virtuals.mint(millions(450n)))
  market.block(virtuals.buy(millions(100n), ether(2_000n)))
  market.block(virtuals.sell(millions(10n), ether(500n)))
  return market
}

const graduation = [
  virtuals.buy(millions(300n), ether(40_000n)),
  pool.create(),
  pool.sync(ether(41_500n), millions(60n)),
  virtuals.graduate(),
]

describe('a curve with a contract of its own', () => {
  test('is an ordinary pair that holds what was paid in, without its virtual reserve', () => {
    const market = traded()
    const pair = market.pair(CURVE_VIRTUALS)
    assert.deepEqual([pair.amm, pair.createdAt], ['virtuals', market.chain[1]?.time])
    assert.deepEqual([pair.token0.reserveRaw, pair.token1.reserveRaw], [millions(360n), ether(1_500n)])
    // 0.5 WETH for 10 million: 0.00015 dollars each. 360 million of them, and 1.5 WETH at 3,000.
    assert.deepEqual([price(market.token.priceUsd), value(pair.tvlUsd)], ['0.00015', '58500'])
    assert.deepEqual(market.token.platform, {
      ...{ name: 'virtuals', createdAt: pair.createdAt, progressPpm: undefined, graduatedAt: undefined },
    })
  })

  test('is emptied and replaced by the pool when its token graduates', () => {
    const market = traded()
    const before = { state: market.run.stateHash(), pair: market.pair(CURVE_VIRTUALS) }
    const set = market.block(...graduation)
    assert.deepEqual(switchesOf(set), [[CURVE_VIRTUALS, MEME_POOL, 'graduated']])
    const { token0, token1, tvlUsd } = market.pair(CURVE_VIRTUALS)
    assert.deepEqual([token0.reserveRaw, token1.reserveRaw, tvlUsd], [0n, 0n, 0n])
    const { platform, mainPair } = market.token
    assert.deepEqual([platform?.graduatedAt, platform?.progressPpm], [set.head.time, 1_000_000])
    assert.deepEqual([platform?.createdAt, mainPair], [market.chain[1]?.time, MEME_POOL])
    market.undo()
    assert.deepEqual([market.run.stateHash(), market.pair(CURVE_VIRTUALS)], [before.state, before.pair])
    market.block(...graduation)
    assert.equal(market.pair(CURVE_VIRTUALS).token1.reserveRaw, 0n)
  })

  test('may be older than the log', () => {
    const market = new LaunchMarket(CURVE_VIRTUALS)
    market.block(virtuals.buy(0n, ether(1_000n)))
    market.block(virtuals.graduate())
    assert.deepEqual(market.pair(CURVE_VIRTUALS).token1.reserveRaw, 0n)
    assert.equal(market.token.platform?.createdAt, undefined)
    assert.equal(market.token.platform?.graduatedAt, market.chain.at(-1)?.time)
  })

  test('launches the token that replaces its own', () => {
    const market = traded()
    const replaced = [pool.create(AGENT_POOL, AGENT), pool.sync(ether(9_000n), millions(60n), AGENT_POOL)]
    const { time } = market.block(...replaced, virtuals.graduate(AGENT)).head
    assert.equal(market.token.platform?.graduatedAt, time)
    assert.deepEqual(market.tokenOf(AGENT).platform, {
      ...{ name: 'virtuals', createdAt: time, progressPpm: 1_000_000, graduatedAt: time },
    })
  })

  test('is emptied, but its token has not graduated, if the platform takes the funds', () => {
    const market = traded()
    market.block(virtuals.drain())
    const { token0, token1 } = market.pair(CURVE_VIRTUALS)
    assert.deepEqual([token0.reserveRaw, token1.reserveRaw], [0n, 0n])
    assert.equal(market.token.platform?.graduatedAt, undefined)
  })

  test("is not emptied by another platform's event", () => {
    const market = traded()
    market.block(virtuals.graduate(MEME, OTHER_LAUNCHPAD))
    assert.equal(market.pair(CURVE_VIRTUALS).token1.reserveRaw, ether(1_500n))
    assert.deepEqual(
      [market.token.platform?.name, market.token.platform?.graduatedAt],
      ['virtuals', undefined],
    )
  })
})

test('the result with reorgs equals that of a run without them', () => {
  const events = fc.constantFrom(
    virtuals.create(),
    virtuals.mint(millions(450n)),
    virtuals.buy(millions(40n), ether(900n)),
    virtuals.sell(millions(9n), ether(300n)),
    virtuals.graduate(),
    virtuals.graduate(AGENT),
    virtuals.drain(),
    clanker.create(),
    pool.create(),
    pool.sync(ether(3_500n), millions(200n)),
    pool.create(AGENT_POOL, AGENT),
  )
  const block = fc.array(events, { minLength: 1, maxLength: 4 })
  const step = fc.oneof(
    { weight: 3, arbitrary: block },
    { weight: 1, arbitrary: fc.constant('undo' as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const forked = new LaunchMarket(CURVE_VIRTUALS)
      const standing: (typeof steps)[number][] = []
      for (const each of steps) {
        if (each !== 'undo') {
          forked.block(...each)
          standing.push(each)
        } else if (standing.pop() !== undefined) forked.undo()
      }
      const straight = new LaunchMarket(CURVE_VIRTUALS)
      for (const each of standing) if (each !== 'undo') straight.block(...each)
      assert.deepEqual(forked.tables, straight.tables)
    }),
    { numRuns: 60 },
  )
})
