import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  sampleCandle,
  sampleLiquidity,
  sampleMessage,
  samplePair,
  sampleToken,
  sampleTrade,
  sampleWindows,
} from '../../../test/support/builders/market-samples.ts'
import type { Change } from '../../domain/change.ts'
import type { Interval } from '../../domain/interval.ts'
import { formatOrderKey } from '../../domain/order-key.ts'
import { Overlay } from './overlay.ts'
import type { Version } from './overlay-documents.ts'

const PAIRS = ['p0', 'p1']
const TOKENS = ['t0', 't1', 't2']
const STARTS = [0, 60]
const CANDLE_INTERVALS = ['s1', 'k1'] as const

const side = (token: string) => ({ ...samplePair().token0, token })
const keyAt = (block: number) => ({ block, tx: 0, log: 0 })

const pair = fc.constantFrom(...PAIRS)
const token = fc.constantFrom(...TOKENS)
const start = fc.constantFrom(...STARTS)
const interval = fc.constantFrom(...CANDLE_INTERVALS)

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
  fc.tuple(pair, interval, start, fc.nat(99)).map(([of, its, from, tradeCount]): Change => {
    return { type: 'candle', candle: sampleCandle({ pair: of, interval: its, start: from, tradeCount }) }
  }),
  fc.tuple(pair, interval, start).map(([of, its, from]): Change => {
    return { type: 'candleRemoved', candle: { pair: of, interval: its, start: from } }
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

function read<T>(version: Version<T> | undefined): Version<T> | undefined {
  return version && { seq: version.seq, record: version.record }
}

function candlesBy(find: (of: string, its: Interval, at: number) => unknown): unknown[] {
  return PAIRS.flatMap((of) =>
    CANDLE_INTERVALS.flatMap((its) => STARTS.map((at) => ({ of, its, at, found: find(of, its, at) }))),
  )
}

/** The last that any of these sets says of each candle. */
function lastCandles(changes: readonly { readonly seq: number; readonly each: Change }[]): unknown[] {
  return candlesBy((of, its, at) => {
    const last = changes.findLast(({ each }) => {
      if (each.type !== 'candle' && each.type !== 'candleRemoved') return false
      return each.candle.pair === of && each.candle.interval === its && each.candle.start === at
    })
    return last && { seq: last.seq, record: last.each.type === 'candle' ? last.each.candle : undefined }
  })
}

/** What can be read, and the size, which counts what cannot be read too. */
function shown(overlay: Overlay) {
  return {
    size: overlay.size,
    removed: overlay.removedPairCount,
    pairs: PAIRS.map((each) => read(overlay.pair(each))),
    tokens: TOKENS.map((each) => read(overlay.token(each))),
    windows: [
      ...PAIRS.map((each) => read(overlay.pairWindows(each))),
      ...TOKENS.map((each) => read(overlay.tokenWindows(each))),
    ],
    candles: candlesBy((of, its, at) => read(overlay.candles(of, its).get(at))),
    trades: PAIRS.map((each) =>
      STARTS.map((at) => read(overlay.trades(each)?.get(formatOrderKey(keyAt(at))))),
    ),
    pairsOfToken: TOKENS.map((each) => [...overlay.pairsOfToken(each)].sort()),
  }
}

test('after sets were dropped, the overlay equals one built from the others alone', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const overlay = new Overlay()
      const sets: ReturnType<typeof sampleMessage>[] = []
      const changes: { seq: number; each: Change }[] = []
      let dropped = 0
      for (const each of steps) {
        if ('changes' in each) {
          const set = sampleMessage(sets.length + 1, each.changes)
          sets.push(set)
          changes.push(...each.changes.map((its) => ({ seq: sets.length, each: its })))
          overlay.apply(set)
        } else {
          const reached = overlay.drop(sets.length - each.behind, each.enough)
          if (reached !== undefined) dropped = reached
        }
        const alone = new Overlay()
        for (const set of sets) if (set.set.seq > dropped) alone.apply(set)
        assert.deepEqual(shown(overlay), shown(alone))
        assert.deepEqual(shown(overlay).candles, lastCandles(changes.filter(({ seq }) => seq > dropped)))
      }
    }),
    { numRuns: 300 },
  )
})

test('a few sets at a time: each call returns up to where nothing is left', () => {
  const overlay = new Overlay()
  for (const seq of [3, 5, 8, 9]) overlay.apply(sampleMessage(seq, [{ type: 'token', token: sampleToken() }]))
  assert.equal(overlay.drop(2), undefined)
  assert.equal(overlay.drop(8, 2), 5)
  assert.equal(overlay.drop(8, 2), 8)
  assert.equal(overlay.drop(8, 2), undefined)
  assert.equal(overlay.token(sampleToken().address)?.seq, 9)
  assert.equal(overlay.drop(20), 20)
  assert.equal(overlay.size, 0)
})

test('documents are returned as published, wherever they are in their message', () => {
  const overlay = new Overlay()
  const candles = [0, 60, 120].map((from) => sampleCandle({ pair: 'p0', start: from, tradeCount: from + 1 }))
  const [its, other] = [sampleTrade({ pair: 'p0' }), sampleCandle({ pair: 'p1', tradeCount: 9 })]
  const liquidity = sampleLiquidity({ pair: 'p0' })
  const ofBoth = sampleWindows({ pair: 'p0', token: 't0' })
  overlay.apply(
    sampleMessage(1, [
      ...[{ type: 'trade', trade: its } as const, { type: 'liquidity', liquidity } as const],
      ...[...candles, other].map((candle) => ({ type: 'candle', candle }) as const),
      { type: 'windows', windows: ofBoth },
      { type: 'token', token: sampleToken({ address: 't0' }) },
      { type: 'pair', pair: samplePair({ address: 'p0' }) },
    ]),
  )
  const ofPair = [...overlay.candles('p0', candles[0]?.interval ?? 'k1').values()]
  assert.deepEqual(
    ofPair.map(({ record }) => record),
    candles,
  )
  assert.deepEqual(overlay.candles('p1', other.interval).get(other.start)?.record, other)
  assert.deepEqual(overlay.trades('p0')?.get(formatOrderKey(its.key))?.record, its)
  assert.deepEqual(overlay.liquidity('p0')?.get(formatOrderKey(liquidity.key))?.record, liquidity)
  assert.deepEqual([overlay.pairWindows('p0')?.record, overlay.tokenWindows('t0')?.record], [ofBoth, ofBoth])
  assert.deepEqual(overlay.token('t0')?.record, sampleToken({ address: 't0' }))
  assert.deepEqual(overlay.pair('p0')?.record, samplePair({ address: 'p0' }))
})
