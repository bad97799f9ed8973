import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { price, sampleCandle, value } from '../../../test/support/builders/market-samples.ts'
import { filledRows, KLINE_UNITS, type KlineRow, klineRows } from './kline-rows.ts'

function row(time: number, close: string): KlineRow {
  return { time, open: '1', high: '9', low: '1', close, volume: '5', count: 2, revision: 7 }
}

function empty(time: number, close: string): KlineRow {
  return { time, open: close, high: close, low: close, close, volume: '0', count: 0 }
}

test('each unit has rows of its own, and a candle that is not known in one has none', () => {
  const values = (whole: string) => {
    const at = price(whole)
    return { open: at, high: at, low: at, close: at, volume: value(whole) }
  }
  const record = sampleCandle({ usd: values('1'), native: values('2'), quote: values('3') })
  const closes = KLINE_UNITS.map((unit) => klineRows([{ seq: 7, record }], unit)[0]?.close)
  assert.deepEqual(closes, ['1', '2', '3'])
  const unpriced = { ...record, usd: undefined, native: undefined }
  const counts = KLINE_UNITS.map((unit) => klineRows([{ seq: 7, record: unpriced }], unit).length)
  assert.deepEqual(counts, [0, 0, 1])
})

test('empty candles stand at the last close, up to the one that holds the end', () => {
  const rows = [row(600, '2'), row(780, '3')]
  assert.deepEqual(filledRows(rows, 'k1', 899, 100), [
    row(600, '2'),
    empty(660, '2'),
    empty(720, '2'),
    row(780, '3'),
    empty(840, '3'),
  ])
  assert.deepEqual(filledRows(rows, 'k1', 899, 2), [row(780, '3'), empty(840, '3')])
  assert.deepEqual(filledRows([], 'k1', 899, 100), [])
})

test('an end before the newest candle adds none after it', () => {
  assert.deepEqual(filledRows([row(600, '2')], 'k1', 0, 100), [row(600, '2')])
})

test('gaps as long as years cost no more than the rows that are answered', () => {
  const rows = Array.from({ length: 1_000 }, (_, index) => row(index * 100_000_000, '2'))
  const started = performance.now()
  assert.equal(filledRows(rows, 's1', 1_000 * 100_000_000, 1_000).length, 1_000)
  assert.ok(performance.now() - started < 50)
})

test('the newest rows of a series without gaps, whatever was traded', () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(
      gaps,
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 0, max: 9 }),
      (steps, limit, more) => {
        let at = 0
        const rows = steps.map((step, index) => {
          at += step
          return row(at, String(index))
        })
        const whole: KlineRow[] = []
        for (let time = rows[0]?.time ?? 0; time <= at + more; time++) {
          const last = rows.findLast((each) => each.time <= time) as KlineRow
          whole.push(last.time === time ? last : empty(time, last.close))
        }
        assert.deepEqual(filledRows(rows, 's1', at + more, limit), whole.slice(-limit))
      },
    ),
  )
})
