import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Action, type ActionOf, DOLLAR, ETHER, TRADER_KINDS } from './actions.ts'
import { poolPriceUsd, poolsPricing } from './market-state.ts'
import { MarketScript } from './script.ts'

const START = Date.UTC(2026, 0, 5) / 1_000
const WEEK = 10_080
const HOURS = 168

type Played = { readonly script: MarketScript; readonly blocks: readonly (readonly Action[])[] }

function play(seed: number, blocks: number): Played {
  const script = new MarketScript({ seed })
  return { script, blocks: Array.from({ length: blocks }, (_, at) => script.nextBlock(START + at * 60)) }
}

function ofType<T extends Action['type']>(blocks: Played['blocks'], type: T): ActionOf<T>[] {
  return blocks.flat().filter((action): action is ActionOf<T> => action.type === type)
}

test('the same seed gives the same market, another seed another one', () => {
  const first = play(7, 400).blocks
  assert.deepEqual(play(7, 400).blocks, first)
  assert.notDeepEqual(play(8, 400).blocks, first)
})

test('a branch has the same past; with a number, another future', () => {
  const { script } = play(7, 300)
  const [same, other] = [script.branch(), script.branch(5)]
  const next = (one: MarketScript) => Array.from({ length: 40 }, (_, at) => one.nextBlock(START + at * 60))
  const future = next(script)
  assert.deepEqual(next(same), future)
  assert.notDeepEqual(next(other), future)
})

for (const seed of [1, 2, 3]) {
  describe(`a week of seed ${seed}`, () => {
    const { script, blocks } = play(seed, WEEK)
    const { state } = script
    const swaps = ofType(blocks, 'swap')

    test('has some fifty tokens and 120 pools, on every exchange', () => {
      const tokens = ofType(blocks, 'createToken').length
      assert.ok(tokens >= 45 && tokens <= 60, `${tokens} tokens`)
      assert.ok(state.pools.length >= 100 && state.pools.length <= 140, `${state.pools.length} pools`)
      for (const venue of ['v2', 'v3', 'v4', 'curve'])
        assert.ok(state.pools.filter(({ spec }) => spec.venue === venue).length >= 12, venue)
      assert.deepEqual(
        state.pools.map(({ spec }) => spec.pool),
        [...state.pools.keys()],
      )
    })

    test('is traded by everybody, in both directions', () => {
      assert.ok(swaps.length > 8_000 && swaps.length < 20_000, `${swaps.length} swaps`)
      for (const kind of TRADER_KINDS.filter((one) => one !== 'creator'))
        assert.ok(swaps.filter(({ by }) => by === kind).length > 800, kind)
      const buys = swaps.filter(({ pool, sold }) => state.pools[pool]?.spec.quote === sold).length
      assert.ok(buys > swaps.length / 4 && buys < (swaps.length * 3) / 4, `${buys} of ${swaps.length}`)
      assert.ok(new Set(swaps.map(({ wallet }) => wallet)).size > 130)
    })

    test('fills charts: the busiest pool trades in nearly every hour, ten do in most', () => {
      const hours = new Map<number, Set<number>>()
      for (const [block, actions] of blocks.entries())
        for (const action of actions)
          if (action.type === 'swap')
            hours.set(action.pool, (hours.get(action.pool) ?? new Set()).add(Math.floor(block / 60)))
      const fullest = [...hours.values()].map(({ size }) => size).sort((a, b) => b - a)
      assert.ok((fullest[9] ?? 0) > HOURS * 0.5, `${fullest.slice(0, 10)}`)
      assert.ok((fullest[0] ?? 0) > HOURS * 0.93, `${fullest[0]}`)
    })

    test('has launches that graduate and some that do not, rug pulls and honeypots', () => {
      const graduations = swaps.filter(({ graduatesTo }) => graduatesTo !== undefined)
      const launches = ofType(blocks, 'openCurve').length
      assert.ok(
        graduations.length >= 3 && graduations.length < launches,
        `${graduations.length} of ${launches}`,
      )
      const pulls = ofType(blocks, 'resize').filter(({ ppm }) => ppm === -1_000_000)
      assert.ok(pulls.length >= 2, `${pulls.length} rug pulls`)
      const traps = ofType(blocks, 'createToken').filter(({ token }) => token.isTrap)
      assert.ok(traps.length >= 2)
      for (const { token } of traps) {
        const own = swaps.filter(({ pool }) => state.pools[pool]?.spec.base === token.coin)
        assert.ok(own.length > 5 && own.every(({ sold }) => sold === ETHER))
      }
    })

    test('lets nobody sell what they do not have', () => {
      for (const [wallet, own] of state.holdings.entries())
        for (const [coin, amount] of own.entries())
          assert.ok((amount ?? 0) >= -1e-6, `wallet ${wallet} has ${amount} of coin ${coin}`)
      for (const { raw } of swaps) assert.ok(raw > 0n)
    })

    test('keeps the prices of a token that is traded together', () => {
      for (const { coin } of state.coins.filter(({ kind }) => kind === 'established').slice(0, 10)) {
        const direct = poolsPricing(state, coin).filter(({ spec }) => spec.quote <= DOLLAR)
        const prices = direct.map((pool) => poolPriceUsd(state, pool))
        const spread = Math.max(...prices) / Math.min(...prices)
        assert.ok(spread < 1.35, `coin ${coin}: ${spread}`)
      }
    })
  })
}
