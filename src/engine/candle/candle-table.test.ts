import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemoryState } from '../../../test/support/rigs/memory-state.ts'
import type { Candle, CandleValues } from '../../domain/change.ts'
import { candleStart, INTERVALS } from '../../domain/interval.ts'
import { MAX_FIXED } from '../../domain/limits.ts'
import type { OrderKey } from '../../domain/order-key.ts'
import { JournaledState } from '../../state/journaled-state.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { decodeChangeSet, encodeChangeSet } from '../../wire/change-codec.ts'
import { ChangeSetWriter } from '../../wire/change-set-writer.ts'
import { CandleTable } from './candle-table.ts'
import { candleStarts } from './take-trade.ts'

const PAIR = `0x${'ab'.repeat(20)}`

const number = fc.option(
  fc.oneof(
    fc.bigInt(1n, 5n),
    fc.bigInt(1n, 2n ** 200n),
    fc.constantFrom(MAX_FIXED, MAX_FIXED / 2n + 1n, 2n ** 32n),
  ),
  { nil: undefined },
)

/** Most quote assets are dollars or native coins: then a trade is worth the same in both. */
const numbers = fc
  .record({
    priceUsd: number,
    priceNative: number,
    priceQuote: number,
    valueUsd: number,
    valueNative: number,
    valueQuote: number,
    quoteIs: fc.constantFrom('usd', 'native', 'other'),
  })
  .map(({ quoteIs, ...made }) => {
    if (quoteIs === 'usd') return { ...made, priceQuote: made.priceUsd, valueQuote: made.valueUsd }
    if (quoteIs === 'native') return { ...made, priceQuote: made.priceNative, valueQuote: made.valueNative }
    return made
  })

type Numbers = typeof numbers extends fc.Arbitrary<infer Made> ? Made : never
type Timed = Numbers & { readonly key: OrderKey; readonly time: number }

const script = fc.array(
  fc.record({
    seconds: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 900_000 })),
    trades: fc.array(numbers, { minLength: 1, maxLength: 3 }),
    isCommitted: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)

test('the newest candles are those that all trades of their time make', () => {
  fc.assert(
    fc.property(script, (blocks) => {
      const committed = new MemoryState()
      let state = new JournaledState(committed)
      let table = new CandleTable(state)
      const all: Timed[] = []
      let time = 1_700_000_000
      for (const [block, { seconds, trades, isCommitted }] of blocks.entries()) {
        time += seconds
        const slot = table.slotOf(PAIR)
        for (const [log, trade] of trades.entries()) {
          const key = { block, tx: 0, log }
          const { priceUsd: usd, priceNative: native, priceQuote: inQuote } = trade
          const { valueUsd, valueNative, valueQuote: quoteValue } = trade
          const paid = { usd, native, inQuote }
          table.take(slot, key, { paid, valueUsd, valueNative, quoteValue }, candleStarts(time))
          all.push({ key, ...trade, time })
        }
        assert.deepEqual(
          publishedBy(table, slot),
          INTERVALS.map((interval) => candleOf(all, interval, time)),
        )
        state.sealBlock(block)
        if (!isCommitted) continue
        committed.write(state.pending())
        state.committed()
        state = new JournaledState(committed)
        table = new CandleTable(state)
      }
    }),
  )
})

function publishedBy(table: CandleTable, slot: number): Candle[] {
  const changes = new ChangeSetWriter()
  const head = { number: 1, hash: '0x01', time: 1 }
  changes.begin({ chain: 'test', seq: 1, cause: 'block', head, finalNumber: 0 })
  const pair = new ByteWriter()
  pair.id(PAIR)
  table.publish(slot, pair.finish(), changes)
  const bytes = changes.finish()
  const set = decodeChangeSet(bytes)
  assert.deepEqual(Buffer.from(bytes), Buffer.from(encodeChangeSet(set)), 'as its codec writes it')
  return set.changes.flatMap((change) => (change.type === 'candle' ? [change.candle] : []))
}

function candleOf(all: readonly Timed[], interval: (typeof INTERVALS)[number], time: number): Candle {
  const start = candleStart(interval, time)
  const trades = all.filter((trade) => candleStart(interval, trade.time) === start)
  return {
    pair: PAIR,
    interval,
    start,
    usd: valuesOf(trades.map(({ priceUsd, valueUsd }) => [priceUsd, valueUsd])),
    native: valuesOf(trades.map(({ priceNative, valueNative }) => [priceNative, valueNative])),
    quote: valuesOf(trades.map(({ priceQuote, valueQuote }) => [priceQuote, valueQuote])),
    tradeCount: trades.length,
    firstTrade: trades[0]?.key ?? assert.fail(),
    lastTrade: trades.at(-1)?.key ?? assert.fail(),
  }
}

function valuesOf(
  paid: readonly (readonly [bigint | undefined, bigint | undefined])[],
): CandleValues | undefined {
  const priced = paid.flatMap(([price, value]) => (price === undefined ? [] : [{ price, value }]))
  const prices = priced.map(({ price }) => price)
  const [open] = prices
  const close = prices.at(-1)
  if (open === undefined || close === undefined) return undefined
  const sorted = prices.toSorted((a, b) => Number(a > b) - Number(a < b))
  const sum = priced.reduce<bigint | undefined>(
    (total, { value }) => (total === undefined || value === undefined ? undefined : total + value),
    0n,
  )
  return {
    open,
    high: sorted.at(-1) ?? open,
    low: sorted[0] ?? open,
    close,
    volume: sum !== undefined && sum <= MAX_FIXED ? sum : undefined,
  }
}
