import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  sampleCandle,
  samplePair,
  sampleSet,
  sampleToken,
  sampleTrade,
  sampleWindows,
} from '../../test/support/market-samples.ts'
import type { Change } from '../domain/change.ts'
import { formatOrderKey } from '../domain/order-key.ts'
import { Overlay } from './overlay.ts'

const PAIRS = ['p0', 'p1']
const TOKENS = ['t0', 't1', 't2']
const STARTS = [0, 60]

const side = (token: string) => ({ ...samplePair().token0, token })
const keyAt = (block: number) => ({ block, tx: 0, log: 0 })

const pair = fc.constantFrom(...PAIRS)
const token = fc.constantFrom(...TOKENS)
const start = fc.constantFrom(...STARTS)

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(pair, token, token).map(([address, one, other]): Change => {
    return { type: 'pair', pair: samplePair({ address, token0: side(one), token1: side(other) }) }
  }),
  pair.map((address): Change => ({ type: 'pairRemoved', pair: address })),
  token.map((address): Change => ({ type: 'token', token: sampleToken({ address }) })),
  token.map((address): Change => ({ type: 'tokenRemoved', token: address })),
  fc.tuple(pair, token).map(([of, its]): Change => {
    return { type: 'windows', windows: sampleWindows({ pair: of, token: its }) }
  }),
  fc.tuple(pair, start).map(([of, from]): Change => {
    return { type: 'candle', candle: sampleCandle({ pair: of, interval: 'k1', start: from }) }
  }),
  fc.tuple(pair, start).map(([of, from]): Change => {
    return { type: 'candleRemoved', candle: { pair: of, interval: 'k1', start: from } }
  }),
  fc.tuple(pair, start).map(([of, block]): Change => {
    return { type: 'trade', trade: sampleTrade({ pair: of, key: keyAt(block) }) }
  }),
)

type Step = { readonly changes: Change[] } | { readonly behind: number; readonly enough: number }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ changes: fc.array(change, { maxLength: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ behind: fc.nat(4), enough: fc.integer({ min: 1, max: 10 }) }) },
)

/** What can be read, and the size, which counts what cannot be read too. */
function shown(overlay: Overlay): unknown {
  return {
    size: overlay.size,
    removed: overlay.removedPairCount,
    pairs: PAIRS.map((each) => overlay.pair(each)),
    tokens: TOKENS.map((each) => overlay.token(each)),
    windows: [
      ...PAIRS.map((each) => overlay.pairWindows(each)),
      ...TOKENS.map((each) => overlay.tokenWindows(each)),
    ],
    candles: PAIRS.map((each) => STARTS.map((at) => overlay.candles(each, 'k1')?.get(at))),
    trades: PAIRS.map((each) => STARTS.map((at) => overlay.trades(each)?.get(formatOrderKey(keyAt(at))))),
    pairsOfToken: TOKENS.map((each) => [...overlay.pairsOfToken(each)].sort()),
  }
}

test('what is left after some sets were dropped is what the others alone would have said', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const overlay = new Overlay()
      const sets: ReturnType<typeof sampleSet>[] = []
      let dropped = 0
      for (const each of steps) {
        if ('changes' in each) {
          const set = sampleSet(sets.length + 1, each.changes)
          sets.push(set)
          overlay.apply(set)
        } else {
          const reached = overlay.drop(sets.length - each.behind, each.enough)
          if (reached !== undefined) dropped = reached
        }
        const alone = new Overlay()
        for (const set of sets) if (set.seq > dropped) alone.apply(set)
        assert.deepEqual(shown(overlay), shown(alone))
      }
    }),
    { numRuns: 300 },
  )
})

test('a few sets at a time: each time it is told up to where nothing is left', () => {
  const overlay = new Overlay()
  for (const seq of [3, 5, 8, 9]) overlay.apply(sampleSet(seq, [{ type: 'token', token: sampleToken() }]))
  assert.equal(overlay.drop(2), undefined)
  assert.equal(overlay.drop(8, 2), 5)
  assert.equal(overlay.drop(8, 2), 8)
  assert.equal(overlay.drop(8, 2), undefined)
  assert.equal(overlay.token(sampleToken().address)?.seq, 9)
  assert.equal(overlay.drop(20), 20)
  assert.equal(overlay.size, 0)
})
