import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { candle } from '../../test/support/arbitraries/change-arbitraries.ts'
import type { Candle } from '../domain/change.ts'
import { candleStart, INTERVALS } from '../domain/interval.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { readCandles, writeCandles } from './candle-codec.ts'

/** One pair's candles of every interval; equal trades share value objects, as in decoded candles. */
const run: fc.Arbitrary<Candle[]> = fc
  .tuple(fc.array(candle, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(), { minLength: 1 }))
  .map(([candles, picks]) =>
    INTERVALS.map((interval, at): Candle => {
      const values = candles[(picks[at % picks.length] ?? 0) % candles.length] as Candle
      const start = candleStart(interval, candles[0]?.start ?? 0)
      return { ...values, pair: candles[0]?.pair ?? '', interval, start }
    }),
  )

function encode(candles: readonly Candle[]): Uint8Array {
  const w = new ByteWriter()
  writeCandles(w, candles)
  return w.finish()
}

test('the encoding of candles depends on their values, not on shared objects', () => {
  fc.assert(
    fc.property(run, (candles) => {
      const bytes = encode(candles)
      assert.deepEqual(encode(candles.map((each) => structuredClone(each))), bytes)
      assert.deepEqual(readCandles(new ByteReader(bytes)), candles)
    }),
  )
})
