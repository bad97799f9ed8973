import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as arbitraries from '../../test/support/arbitraries/change-arbitraries.ts'
import type { Candle, CandleValues } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { candleStart, INTERVALS, type Interval, intervalSeconds } from '../domain/interval.ts'
import { MAX_FIXED, MAX_TIME } from '../domain/limits.ts'
import { pow10 } from '../domain/money.ts'
import { ByteWriter } from './byte-writer.ts'
import { writeCandleBody } from './candle-body.ts'
import { type CandleVersion, readPackedCandles, writePackedCandles } from './packed-candles.ts'

const PAIR = '0xaa'
/** Beyond any future block or version. */
const MAX_COUNT = 2 ** 50

const plain = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>

const money = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX_FIXED }),
  // Few digits followed by many zeros.
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 9n }), fc.nat(60))
    .map(([digits, zeros]) => digits * pow10(zeros)),
  fc.constantFrom(0n, 1n, MAX_FIXED),
)
const values: fc.Arbitrary<CandleValues> = fc.oneof(
  plain({ open: money, high: money, low: money, close: money, volume: fc.option(money, { nil: undefined }) }),
  money.map((price) => ({ open: price, high: price, low: price, close: price, volume: price })),
  fc.tuple(money, money).map(([a, b]) => {
    const [low, high] = a < b ? [a, b] : [b, a]
    return { open: a, high, low, close: b, volume: undefined }
  }),
)
const count = fc.oneof(fc.nat(1_000), fc.nat(MAX_COUNT))
const orderKey = plain({ block: count, tx: count, log: count })
const time = fc.oneof(fc.nat(100_000), fc.integer({ min: 0, max: MAX_TIME }))

function versions(interval: Interval): fc.Arbitrary<CandleVersion[]> {
  const start = fc.oneof(
    time,
    time.map((at) => candleStart('s1', at)),
  )
  const known = fc.option(values, { nil: undefined })
  const version = fc
    .record({
      start,
      seq: count,
      isRemoved: fc.boolean(),
      usd: known,
      native: known,
      quote: known,
      same: fc.nat(2),
      tradeCount: count,
      firstTrade: orderKey,
      lastTrade: fc.option(orderKey, { nil: undefined }),
    })
    .map(({ start, seq, isRemoved, same, firstTrade, lastTrade, ...rest }): CandleVersion => {
      const quote = [rest.quote, rest.usd, rest.native][same]
      const candle: Candle = {
        pair: PAIR,
        interval,
        start,
        ...rest,
        quote,
        firstTrade,
        lastTrade: lastTrade ?? firstTrade,
      }
      return { start, seq, candle: isRemoved ? undefined : candle }
    })
  return fc.array(version, { maxLength: 12 })
}

function pack(interval: Interval, run: readonly CandleVersion[]): Uint8Array {
  const w = new ByteWriter()
  writePackedCandles(
    w,
    interval,
    run.map(({ start, seq, candle }) => ({ start, seq, body: bodyOf(candle) })),
  )
  return w.finish()
}

function bodyOf(candle: Candle | undefined): Uint8Array {
  const w = new ByteWriter()
  if (candle !== undefined) writeCandleBody(w, candle)
  return w.finish()
}

const seriesOf = fc
  .constantFrom(...INTERVALS)
  .chain((interval) => versions(interval).map((run) => ({ interval, run })))

test('any run of versions is read back, including removals and unknown values', () => {
  fc.assert(
    fc.property(seriesOf, ({ interval, run }) => {
      assert.deepEqual(readPackedCandles(pack(interval, run), PAIR, interval), run)
    }),
    { numRuns: 500 },
  )
})

test('any candle of the log is read back', () => {
  fc.assert(
    fc.property(arbitraries.candle, fc.nat(), (candle, seq) => {
      const run = [{ start: candle.start, seq, candle }]
      const isSmall = [candle.start, candle.firstTrade.block, candle.lastTrade.block].every(
        (n) => n <= MAX_COUNT,
      )
      if (!isSmall) return
      assert.deepEqual(readPackedCandles(pack(candle.interval, run), candle.pair, candle.interval), run)
    }),
  )
})

test('damaged bytes are a coded error or other candles, nothing else', () => {
  fc.assert(
    fc.property(seriesOf, fc.nat(), fc.nat(255), fc.boolean(), ({ interval, run }, place, byte, isCut) => {
      const bytes = pack(interval, run)
      if (bytes.length === 0) return
      const at = place % bytes.length
      if (!isCut) bytes[at] = byte
      try {
        readPackedCandles(isCut ? bytes.subarray(0, at) : bytes, PAIR, interval)
      } catch (error) {
        assert.ok(error instanceof ChaintapeError && error.code === 'message_unreadable', String(error))
      }
    }),
  )
})

test('candles of a steady market take little more than the digits of their numbers', () => {
  const interval = 'k5'
  const run = Array.from({ length: 32 }, (_, i): CandleVersion => {
    const start = 1_750_000_200 + i * intervalSeconds(interval)
    const price = 2_012_512_345_678_901_234_567_890_123_456_789_012_345n + BigInt(i % 7) * pow10(12)
    const usd = {
      open: price,
      high: price + 5n,
      low: price - 5n,
      close: price + 1n,
      volume: BigInt(i) * pow10(18),
    }
    const key = { block: 20_000_000 + i * 25, tx: 5, log: 9 }
    const candle = {
      pair: PAIR,
      interval,
      start,
      usd,
      native: undefined,
      quote: usd,
      tradeCount: 9,
      firstTrade: key,
      lastTrade: key,
    } as const
    return { start, seq: 500_000 + i * 25, candle }
  })
  assert.ok(pack(interval, run).length / run.length < 80, `${pack(interval, run).length}`)
})
