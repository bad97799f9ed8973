import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { sampleToken, sampleWindows, value } from '../../test/support/builders/market-samples.ts'
import type { Token, WindowSums, Windows } from './change.ts'
import { doublings, TRENDING_FACTORS, trendingScore } from './trending.ts'

const NOW = 1_750_000_000
const HOUR = 3_600

type Market = {
  readonly dollars: number
  /** Bought share of the volume in thousandths. */
  readonly bought?: number
  readonly trades: number
  readonly makers: number
  readonly buyers?: number
  readonly sellers?: number
}

function sums({ dollars, bought = 600, trades, makers, buyers, sellers }: Market): WindowSums {
  const volume = value(String(dollars))
  const buyUsd = (volume * BigInt(bought)) / 1_000n
  const buys = Math.floor(trades / 2)
  return {
    ...{ buyUsd, sellUsd: volume - buyUsd, buys, sells: trades - buys, makers, openUsd: undefined },
    ...{ buyers: buyers ?? makers, sellers: sellers ?? 0 },
  }
}

function windowsOf(hour: Market, four: Market, day: Market): Windows {
  const quiet = sums({ dollars: 0, trades: 0, makers: 0 })
  return sampleWindows({ lengths: [quiet, quiet, quiet, sums(hour), sums(four), sums(day)] })
}

/** All trades fall in the last hour. */
function atOnce(market: Market): Windows {
  return windowsOf(market, market, market)
}

function tokenOf(liquidity: number, ageHours: number, overrides: Partial<Token> = {}): Token {
  return sampleToken({
    mainPairTvlUsd: value(String(liquidity)),
    launch: { time: NOW - ageHours * HOUR, priceUsd: undefined },
    risk: { score: 0, isHoneypot: false, isMintable: false },
    ...overrides,
  })
}

const HONEST: Market = { dollars: 500_000, trades: 1_500, makers: 800, buyers: 700, sellers: 300 }

function factors(...points: number[]): object {
  return Object.fromEntries(TRENDING_FACTORS.map((name, index) => [name, points[index] ?? 0]))
}

/** The examples of docs/trending.md. */
test('a new token in demand', () => {
  assert.deepEqual(trendingScore(tokenOf(100_000, 2), atOnce(HONEST), NOW), {
    score: 51_097,
    factors: factors(19_128, 18_907, 6_562, 6_500, 0, 0, 0, 0, 0),
  })
})

test('an established token with steady trading', () => {
  const windows = windowsOf(
    { dollars: 2_000_000, trades: 900, makers: 400, buyers: 250, sellers: 220 },
    { dollars: 8_000_000, trades: 3_600, makers: 1_200, buyers: 800, sellers: 700 },
    { dollars: 50_000_000, trades: 21_000, makers: 5_000, buyers: 3_500, sellers: 3_200 },
  )
  assert.deepEqual(trendingScore(tokenOf(20_000_000, 20_000), windows, NOW), {
    score: 50_827,
    factors: factors(18_848, 21_979, 10_000, 0, 0, 0, 0, 0, 0),
  })
})

test('wash-traded tokens are not ranked, and nearly wash-traded ones rank low', () => {
  const few = { makers: 4, buyers: 4, sellers: 4, bought: 500 }
  const fake = atOnce({ dollars: 150_000_000, trades: 40_000, ...few })
  assert.equal(trendingScore(tokenOf(500_000, 2), fake, NOW), undefined)
  const ten = { makers: 10, buyers: 10, sellers: 10 }
  const careful = atOnce({ dollars: 4_900_000, trades: 490, bought: 480, ...ten })
  assert.deepEqual(trendingScore(tokenOf(500_000, 2), careful, NOW), {
    score: 14_766,
    factors: factors(6_750, 16_525, 8_953, 6_500, -8_900, -11_062, 0, -4_000, 0),
  })
})

test('tokens that are not ranked', () => {
  const scoreOf = (token: Partial<Token>, market: Partial<Market> = {}) =>
    trendingScore({ ...tokenOf(100_000, 2), ...token }, atOnce({ ...HONEST, ...market }), NOW)?.score
  const risk = { score: 0, isHoneypot: true, isMintable: false }
  assert.equal(scoreOf({ risk }), undefined, 'who cannot be sold')
  assert.equal(scoreOf({ mainPairTvlUsd: undefined }), undefined, 'whose liquidity is not known')
  assert.equal(scoreOf({ mainPairTvlUsd: value('999.99') }), undefined)
  assert.ok(scoreOf({ mainPairTvlUsd: value('1000') }) !== undefined)
  assert.equal(scoreOf({}, { dollars: 0, trades: 0, makers: 0 }), undefined, 'who was not traded')
  assert.equal(scoreOf({}, { trades: 500, makers: 5 }), undefined, '100 trades of each wallet')
  assert.ok(scoreOf({}, { trades: 499, makers: 4 }) !== undefined, 'in a market this small it may happen')
  const washed = { dollars: 1_000_000, trades: 60, makers: 2, buyers: 2, sellers: 0 }
  assert.equal(scoreOf({}, washed), undefined, 'half a million dollars and 30 trades of each wallet')
  assert.ok(scoreOf({}, { ...washed, trades: 59 }) !== undefined)
})

test('unknown inputs neither add nor subtract points', () => {
  const unknown = { launch: undefined, origin: undefined, risk: undefined }
  const score = trendingScore(tokenOf(100_000, 2, unknown), atOnce(HONEST), NOW)
  assert.deepEqual([score?.score, score?.factors.youth, score?.factors.risk], [51_097 - 6_500, 0, 0])
  const origin = { time: NOW - 2 * HOUR, creator: '' }
  const transferred = trendingScore(tokenOf(100_000, 2, { launch: undefined, origin }), atOnce(HONEST), NOW)
  assert.equal(transferred?.factors.youth, 6_500, 'the first transfer, where the first trade is not known')
})

const count = fc.integer({ min: 0, max: 20_000 })
const dollars = fc.bigInt({ min: 0n, max: 10n ** 28n })
const anySums = fc
  .record({ buyUsd: dollars, sellUsd: dollars, buys: count, sells: count, buyers: count, sellers: count })
  .chain((traded) =>
    fc
      .integer({ min: Math.max(traded.buyers, traded.sellers), max: traded.buyers + traded.sellers })
      .map((makers): WindowSums => ({ ...traded, makers, openUsd: undefined })),
  )
const anyWindows = fc
  .tuple(anySums, anySums, anySums)
  .map((sums) => sampleWindows({ lengths: [sums[0], sums[0], sums[0], ...sums] }))
const anyToken = fc
  .record({
    liquidity: dollars,
    age: fc.option(count, { nil: undefined }),
    risk: fc.integer({ min: 0, max: 100 }),
  })
  .map(({ liquidity, age, risk }) =>
    sampleToken({
      mainPairTvlUsd: liquidity,
      launch: age === undefined ? undefined : { time: NOW - age * HOUR, priceUsd: undefined },
      risk: { score: risk, isHoneypot: false, isMintable: false },
    }),
  )

const score = (token: Token, windows: Windows): number => trendingScore(token, windows, NOW)?.score ?? 0

function withSums(windows: Windows, change: (sums: WindowSums, window: number) => WindowSums): Windows {
  return { ...windows, lengths: windows.lengths.map(change) }
}

test('a score is a positive integer and the sum of its factors', () => {
  fc.assert(
    fc.property(anyToken, anyWindows, (token, windows) => {
      const found = trendingScore(token, windows, NOW)
      if (found === undefined) return
      assert.ok(Number.isSafeInteger(found.score) && found.score > 0)
      const points = Object.values(found.factors)
      assert.equal(
        points.reduce((sum, each) => sum + each),
        found.score,
      )
      assert.ok(points.slice(0, 4).every((each) => each >= 0) && points.slice(4).every((each) => each <= 0))
    }),
  )
})

test('more wallets, more liquidity, fewer trades for the same volume, a later launch or less risk never lower the score', () => {
  fc.assert(
    fc.property(anyToken, anyWindows, fc.nat(1_000), fc.nat(5), (token, windows, more, window) => {
      const before = score(token, windows)
      const better: [string, Token, Windows][] = [
        [
          'wallets',
          token,
          withSums(windows, (sums, index) =>
            index === window ? { ...sums, makers: sums.makers + Math.min(more, 2 * sums.makers) } : sums,
          ),
        ],
        [
          'liquidity',
          { ...token, mainPairTvlUsd: (token.mainPairTvlUsd ?? 0n) + value(String(more)) },
          windows,
        ],
        ['trades', token, withSums(windows, (sums) => ({ ...sums, buys: Math.max(0, sums.buys - more) }))],
        ['launch', { ...token, launch: { time: NOW - HOUR, priceUsd: undefined } }, windows],
        ['risk', { ...token, risk: { score: 0, isHoneypot: undefined, isMintable: false } }, windows],
      ]
      for (const [what, otherToken, otherWindows] of better) {
        const wasYoung = what === 'launch' && NOW - (token.launch?.time ?? 0) < HOUR
        if (!wasYoung) assert.ok(score(otherToken, otherWindows) >= before, what)
      }
    }),
    { numRuns: 500 },
  )
})

test('wallets that exceed the limit per wallet gain nothing by trading more', () => {
  const market = fc.record({
    makers: fc.integer({ min: 1, max: 500 }),
    trades: fc.nat(2_000),
    times: fc.nat(50),
  })
  fc.assert(
    fc.property(anyToken, market, (token, { makers, trades, times }) => {
      const at = (dollarsEach: number): number =>
        score(token, atOnce({ dollars: makers * dollarsEach, trades, makers, sellers: makers }))
      assert.ok(at(10_000 * (times + 2)) <= at(10_000 * (times + 1)))
    }),
  )
})

test('an organic market ranks above every imitation by fewer wallets, however much these trade', () => {
  const honest = score(tokenOf(100_000, 2), atOnce(HONEST))
  const imitation = fc.record({
    makers: fc.integer({ min: 1, max: 100 }),
    trades: fc.integer({ min: 1, max: 100_000 }),
    dollars: fc.integer({ min: 1_000, max: 1_000_000_000 }),
    bought: fc.integer({ min: 480, max: 520 }),
  })
  fc.assert(
    fc.property(imitation, fc.nat(100), (market, age) => {
      const { makers } = market
      const fake = atOnce({ ...market, buyers: makers, sellers: makers })
      assert.ok(score(tokenOf(100_000, age), fake) < honest)
    }),
    { numRuns: 1_000 },
  )
})

test('doublings are exact at powers of two, linear between them, and 0 up to the base', () => {
  assert.deepEqual(
    [0n, 1n, 2n, 3n, 4n, 6n, 1_024n, 1_536n].map((amount) => doublings(amount)),
    [0, 0, 1_000, 1_500, 2_000, 2_500, 10_000, 10_500],
  )
  assert.deepEqual(
    [-5n, 10n, 15n, 20n, 79n].map((amount) => doublings(amount, 10n)),
    [0, 0, 500, 1_000, 2_975],
  )
  const amount = fc.bigInt({ min: 1n, max: 10n ** 60n })
  fc.assert(
    fc.property(amount, fc.bigInt({ min: 1n, max: 10n ** 24n }), (large, base) => {
      const found = doublings(large, base)
      const exact = large <= base ? 0 : 1_000 * (Math.log2(Number(large)) - Math.log2(Number(base)))
      assert.ok(found <= exact + 0.001 && found >= exact - 88, `${found} for ${exact}`)
      assert.ok(doublings(large + base, base) >= found)
    }),
  )
})
