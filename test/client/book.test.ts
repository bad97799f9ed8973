import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  CandleBook,
  type CandleRetraction,
  type CandleUnit,
  type CandleUpdate,
  candleStart,
  type Interval,
  PriceBook,
  type PriceEntry,
  type Retraction,
  type Trade,
  TradeCandleBook,
} from '../../clients/typescript/src/index.ts'
import { candleDecoder, decodeTrade } from '../../clients/typescript/src/streams/items.ts'
import type { PushResult } from '../../clients/typescript/src/streams/topic.ts'
import type { ChangeSet } from '../../src/domain/change.ts'
import { INTERVALS, pushedInterval, candleStart as servedStart } from '../../src/domain/interval.ts'
import { klinePush } from '../../src/gateway/shape/kline.ts'
import { klineRows } from '../../src/gateway/shape/kline-rows.ts'
import { swapPush } from '../../src/gateway/shape/swap-transaction.ts'
import { revertPush } from '../../src/gateway/ws/fanout/set-pushes.ts'
import { CHAIN, market, publishScript, settingsOf, steps } from '../support/arbitraries/market-arbitraries.ts'
import { EngineRun } from '../support/rigs/engine-run.ts'

/** Books against the real fold: random markets with forks, pushed as a gateway would. */

const UNITS: readonly CandleUnit[] = ['usd', 'eth']

/** What subscribers of all trades and candles receive of a set. */
function pushesOf({ changes, seq }: ChangeSet): { readonly pair: string; readonly result: object }[] {
  return changes.flatMap((change): { readonly pair: string; readonly result: object }[] => {
    if (change.type === 'trade') return [{ pair: change.trade.pair, result: swapPush(CHAIN, change.trade) }]
    if (change.type === 'tradeRemoved')
      return [{ pair: change.trade.pair, result: revertPush(change.trade.pair, change.trade.key) }]
    if (change.type === 'candle') {
      const push = klinePush(CHAIN, change.candle, { windows: undefined, pair: undefined, times: undefined })
      return [{ pair: change.candle.pair, result: { ...push, revision: seq } }]
    }
    if (change.type !== 'candleRemoved') return []
    const { pair, interval, start } = change.candle
    const id = `${pair}-${CHAIN}`
    return [{ pair, result: { id, interval: pushedInterval(interval), time: start, topic: 'revert' } }]
  })
}

/** Rows of `/v2/klines` after these sets, by pair and interval. */
function servedRows(sets: readonly ChangeSet[], interval: Interval, unit: CandleUnit) {
  const candles = new Map<
    string,
    { seq: number; record: Parameters<typeof klineRows>[0][number]['record'] }
  >()
  for (const { seq, changes } of sets) {
    for (const change of changes) {
      if (change.type !== 'candle' && change.type !== 'candleRemoved') continue
      const { pair, start } = change.candle
      if (change.candle.interval !== interval) continue
      if (change.type === 'candle') candles.set(`${pair} ${start}`, { seq, record: change.candle })
      else candles.delete(`${pair} ${start}`)
    }
  }
  const byPair = Map.groupBy(candles.values(), ({ record }) => record.pair)
  return new Map(Array.from(byPair, ([pair, own]) => [pair, klineRows(own, unit)]))
}

test('books of trades and of candles equal the candles that the gateway serves, after every fork', () => {
  fc.assert(
    fc.property(
      market,
      steps,
      fc.constantFrom(...INTERVALS),
      fc.constantFrom(...UNITS),
      (world, script, interval, unit) => {
        const run = new EngineRun(settingsOf(world))
        const traded = new Map<string, TradeCandleBook>()
        const charted = new Map<string, CandleBook>()
        const decodeCandle = candleDecoder(unit, undefined)
        for (const envelope of publishScript(world, script).envelopes) {
          for (const { pair, result } of pushesOf(run.apply(envelope))) {
            const trades = traded.get(pair) ?? new TradeCandleBook(interval, unit)
            traded.set(pair, trades)
            const candles = charted.get(pair) ?? new CandleBook()
            charted.set(pair, candles)
            decodeTrade(result as PushResult, (item: Trade | Retraction) => void trades.apply(item))
            decodeCandle(result as PushResult, (item: CandleUpdate | CandleRetraction) => {
              if (item.interval === interval) candles.apply(item)
            })
          }
          const served = servedRows(run.sets, interval, unit)
          for (const [pair, book] of charted) {
            const rows = served.get(pair) ?? []
            const shown = book.candles().map(({ pairId: _p, interval: _i, ...candle }) => candle)
            assert.deepEqual(
              shown,
              rows.map(({ count: _, ...row }) => row),
            )
          }
          for (const [pair, book] of traded) {
            // A pair without a target has trades, but no candles.
            if (!charted.has(pair) || !run.sets.some((set) => hasCandleOf(set, pair))) continue
            const rows = (served.get(pair) ?? []).map(({ revision: _, ...row }) => row)
            assert.deepEqual(book.candles(), rows)
          }
        }
      },
    ),
    { numRuns: 60 },
  )
})

function hasCandleOf({ changes }: ChangeSet, pair: string): boolean {
  return changes.some((change) => change.type === 'candle' && change.candle.pair === pair)
}

test('candles start where those of the gateway do', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constantFrom(...INTERVALS), (time, interval) => {
      assert.equal(candleStart(interval, time), servedStart(interval, time))
    }),
  )
})

test('a frozen candle stays, and its trades are released', () => {
  const book = new TradeCandleBook('k1')
  const trade = (id: string, time: number, price: string) =>
    ({
      ...{ id, time, block_number: Number(id.split('-')[0]), target_token: 't', to_address: 't' },
      ...{ to_price_usd: price, amount_usd: '10' },
    }) as Trade
  book.apply(trade('1-0', 60, '2'))
  book.apply(trade('2-0', 130, '3'))
  book.freezeBefore(120)
  assert.deepEqual(book.apply({ pair: 'p', retracted: ['1-0', '2-0'] }), [120])
  const frozen = { time: 60, open: '2', high: '2', low: '2', close: '2', volume: '10', count: 1 }
  assert.deepEqual(book.candles(), [frozen])
})

test('a price book follows the main pair of a token', () => {
  const book = new PriceBook()
  const entry = (pair: string, target_token: string, is_main_pair: boolean, uprice: string) =>
    ({ chain: 'eth', pair, target_token, is_main_pair, uprice }) as PriceEntry
  book.apply(entry('0xaa', '0xt1', true, '5'))
  assert.equal(book.usd('0xt1-eth'), '5')
  book.apply(entry('0xbb', '0xt1', true, '6'))
  book.apply(entry('0xaa', '0xt1', false, '6'))
  assert.deepEqual([book.usd('0xt1-eth'), book.token('0xt1-eth')?.pair], ['6', '0xbb'])
  assert.deepEqual(
    book.pair('0xAA-eth').map(({ is_main_pair }) => is_main_pair),
    [false],
  )
  book.apply(entry('0xbb', '0xt1', true, ''))
  assert.equal(book.usd('0xt1-eth'), undefined)
})
