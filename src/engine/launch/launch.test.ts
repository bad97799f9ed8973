import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { price, value } from '../../../test/support/builders/example-market.ts'
import {
  CURVE,
  CURVE_FLAP,
  CURVE_V1,
  ether,
  flap,
  four,
  LaunchMarket,
  MANAGER_V1,
  MEME,
  MEME_POOL,
  millions,
  NATIVE,
  pool,
} from '../../../test/support/builders/launch-market.ts'
import type { Change, ChangeSet } from '../../domain/change.ts'

function changesOf<Type extends Change['type']>({ changes }: ChangeSet, type: Type) {
  return changes.filter((change): change is Extract<Change, { type: Type }> => change.type === type)
}

const graduation = [
  four.buy(millions(100n), ether(10_000n), 0n, ether(20_000n)),
  four.stop(),
  pool.create(),
  pool.sync(ether(20_000n), millions(200n)),
  four.added(millions(200n), ether(20_000n)),
]

/** Created, half way there, and one sale back. */
function half(): LaunchMarket {
  const market = new LaunchMarket(CURVE)
  market.block(four.create())
  market.block(four.buy(millions(400n), ether(12_000n), millions(400n), ether(12_000n)))
  market.block(four.sell(millions(50n), ether(2_000n), millions(450n), ether(10_000n)))
  return market
}

describe('a curve that reports what is left and raised', () => {
  test('is there from its creation on, without a price', () => {
    const market = new LaunchMarket(CURVE)
    const set = market.block(four.create())
    const { time } = set.head
    assert.deepEqual(market.token.platform, {
      ...{ name: 'fourmeme', createdAt: time, progressPpm: 0, graduatedAt: undefined },
    })
    const pair = market.pair(CURVE)
    assert.deepEqual([pair.amm, pair.createdAt, pair.targetToken], ['fourmeme', time, MEME])
    assert.deepEqual(
      [pair.token0.reserveRaw, pair.tvlUsd, market.token.priceUsd],
      [undefined, undefined, undefined],
    )
    assert.deepEqual(
      changesOf(set, 'liquidity').map(({ liquidity }) => [liquidity.kind, liquidity.pair]),
      [['createPair', CURVE]],
    )
  })

  test('is an ordinary pair: its trades price the token, what was raised is its depth', () => {
    const market = half()
    const trades = [...market.tables.trades.values()]
    assert.deepEqual(
      trades.map(({ side, sold, bought }) => [side, sold.token, bought.token]),
      [
        ['buy', NATIVE, MEME],
        ['sell', MEME, NATIVE],
      ],
    )
    // 12 coins for 400 million: 0.00000003 of a coin, or 0.00009 dollars, for each. Later 2 coins for 50 million.
    assert.equal(price(trades[0]?.bought.priceUsd), '0.00009')
    assert.equal(price(trades[1]?.sold.priceUsd), '0.00012')
    const pair = market.pair(CURVE)
    assert.deepEqual([pair.token0.reserveRaw, pair.token1.reserveRaw], [millions(450n), ether(10_000n)])
    // 450 million at 0.00012, and 10 coins at 3,000.
    assert.equal(value(pair.tvlUsd), '84000')
    assert.deepEqual([market.token.mainPair, pair.isMain], [CURVE, true])
    assert.equal(market.token.platform?.progressPpm, 500_000)
  })

  test('is replaced by the pool in the block that closes it, and the switch is published', () => {
    const market = half()
    const set = market.block(...graduation)
    assert.deepEqual(
      changesOf(set, 'switch').map((change) => change.switch),
      [
        {
          ...{ token: MEME, block: set.head.number, time: set.head.time },
          ...{ oldPair: CURVE, newPair: MEME_POOL, reason: 'graduated' },
        },
      ],
    )
    const { platform, mainPair, priceUsd, tvlUsd } = market.token
    assert.deepEqual(
      [platform?.graduatedAt, platform?.progressPpm, mainPair],
      [set.head.time, 1_000_000, MEME_POOL],
    )
    assert.equal(price(priceUsd), '0.0003')
    assert.equal(value(tvlUsd), '120000')
    const { token0, token1, isMain, tvlUsd: left } = market.pair(CURVE)
    assert.deepEqual([token0.reserveRaw, token1.reserveRaw, isMain, left], [0n, 0n, false, 0n])
  })

  test('keeps being its price until there is a pool', () => {
    const market = half()
    const set = market.block(four.buy(millions(100n), ether(10_000n), 0n, ether(20_000n)), four.stop())
    assert.deepEqual(changesOf(set, 'switch'), [])
    assert.equal(market.token.mainPair, CURVE)
    const later = market.block(pool.create(), pool.sync(ether(20_000n), millions(200n)), four.added(1n, 1n))
    assert.deepEqual(
      changesOf(later, 'switch').map((change) => change.switch.reason),
      ['graduated'],
    )
    assert.equal(market.token.platform?.graduatedAt, set.head.time, 'closed when trade was stopped')
  })

  test('is open again when a fork undoes that', () => {
    const market = half()
    const before = { state: market.run.stateHash(), token: market.token, pair: market.pair(CURVE) }
    market.block(...graduation)
    assert.notEqual(market.run.stateHash(), before.state)
    const set = market.undo()
    assert.equal(market.run.stateHash(), before.state)
    assert.deepEqual([market.token, market.pair(CURVE)], [before.token, before.pair])
    assert.deepEqual(
      changesOf(set, 'switchRemoved').map((change) => change.switch.newPair),
      [MEME_POOL],
    )
    assert.equal(market.tables.pairs.get(MEME_POOL), undefined)
    market.block(...graduation)
    assert.equal(market.token.mainPair, MEME_POOL)
  })

  test('may be discovered late: its creation time is then unknown', () => {
    const market = new LaunchMarket(CURVE)
    market.block(four.sell(millions(50n), ether(2_000n), millions(450n), ether(15_000n)))
    assert.deepEqual(market.token.platform, {
      ...{ name: 'fourmeme', createdAt: undefined, progressPpm: 750_000, graduatedAt: undefined },
    })
  })

  test('may be oversold: it is never more than there', () => {
    const market = new LaunchMarket(CURVE)
    market.block(four.buy(millions(800n), ether(21_000n), 0n, ether(21_000n)))
    assert.equal(market.token.platform?.progressPpm, 1_000_000)
  })
})

test('a curve that does not report its reserves has trades but no depth', () => {
  const market = new LaunchMarket(CURVE_V1)
  market.block(four.create(MANAGER_V1))
  market.block(four.buyV1(millions(400n), ether(12_000n)))
  const { createdAt, progressPpm } = market.token.platform ?? {}
  assert.deepEqual([createdAt, progressPpm], [market.chain.at(-2)?.time, undefined])
  assert.deepEqual([market.token.mainPair, market.pair(CURVE_V1).tvlUsd], [undefined, undefined])
  assert.equal(price(market.pair(CURVE_V1).lastTradePriceUsd), '0.00009')
  market.block(four.stop(MANAGER_V1))
  assert.equal(market.token.platform?.graduatedAt, market.chain.at(-1)?.time)
  assert.equal(market.token.mainPair, undefined)
})

test('a curve whose trades are counted', () => {
  const market = new LaunchMarket(CURVE_FLAP)
  market.block(flap.create())
  assert.equal(market.token.platform?.progressPpm, undefined, 'it says when it changes')
  market.block(flap.buy(millions(100n), ether(4_040n), ether(40n)), flap.progress(25n * 10n ** 16n))
  market.block(flap.sell(millions(20n), ether(990n), ether(10n)), flap.progress(18n * 10n ** 16n))
  const pair = market.pair(CURVE_FLAP)
  assert.deepEqual([pair.token0.reserveRaw, pair.token1.reserveRaw], [millions(720n), ether(3_000n)])
  assert.equal(price(market.token.priceUsd), '0.00015')
  assert.equal(market.token.platform?.progressPpm, 180_000)
  const set = market.block(pool.create(), pool.sync(ether(9_000n), millions(200n)), flap.launch())
  assert.deepEqual(
    changesOf(set, 'switch').map((change) => [change.switch.oldPair, change.switch.reason]),
    [[CURVE_FLAP, 'graduated']],
  )
  assert.deepEqual([market.pair(CURVE_FLAP).token1.reserveRaw, market.token.platform?.name], [0n, 'flap'])
})

test('a pool that only becomes deeper takes over as any other does', () => {
  const market = half()
  const set = market.block(pool.create(), pool.sync(ether(90_000n), millions(200n)))
  assert.deepEqual(
    changesOf(set, 'switch').map((change) => change.switch.reason),
    ['deeper'],
  )
  assert.equal(market.token.platform?.graduatedAt, undefined)
})

test('the result with reorgs equals that of a run without them', () => {
  const events = fc.constantFrom(
    four.create(),
    four.buy(millions(40n), ether(900n), millions(700n), ether(4_000n)),
    four.sell(millions(9n), ether(300n), millions(750n), ether(3_000n)),
    four.stop(),
    four.added(millions(200n), ether(18_000n)),
    pool.create(),
    pool.sync(ether(3_500n), millions(200n)),
    pool.sync(ether(20_000n), millions(300n)),
  )
  const block = fc.array(events, { minLength: 1, maxLength: 4 })
  const step = fc.oneof(
    { weight: 3, arbitrary: block },
    { weight: 1, arbitrary: fc.constant('undo' as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const forked = new LaunchMarket(CURVE)
      const standing: (typeof steps)[number][] = []
      for (const each of steps) {
        if (each !== 'undo') {
          forked.block(...each)
          standing.push(each)
        } else if (standing.pop() !== undefined) forked.undo()
      }
      const straight = new LaunchMarket(CURVE)
      for (const each of standing) if (each !== 'undo') straight.block(...each)
      // Blocks have other hashes, everything else is the same.
      assert.deepEqual(forked.tables, straight.tables)
    }),
    { numRuns: 300 },
  )
})
