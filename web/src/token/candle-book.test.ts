import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Bar, CandleBook, type CandleTexts, scaleOf } from './candle-book.ts'

function candle(time: number, close = '2'): CandleTexts {
  return { time, open: '1', high: '3', low: '0.5', close, volume: '10' }
}

function timesOf(book: CandleBook): number[] {
  return book.candles.map(({ time }) => time)
}

test('a new version of the last candle and the next candle are drawn alone', () => {
  const book = new CandleBook()
  book.replace([candle(60), candle(120)])
  assert.equal(book.takeRedraw(1), 'all')
  book.put(candle(120, '4'))
  book.put(candle(180))
  book.put(candle(180, '5'))
  assert.deepEqual(
    (book.takeRedraw(1) as readonly Bar[]).map(({ time, close }) => [time, close]),
    [
      [120, 4],
      [180, 5],
    ],
  )
  assert.deepEqual(book.takeRedraw(1), [])
  assert.deepEqual(timesOf(book), [60, 120, 180])
})

test('a removed candle, and a late one in between, redraw everything', () => {
  const book = new CandleBook()
  book.replace([candle(60), candle(180)])
  book.takeRedraw(1)
  book.put(candle(120))
  assert.equal(book.takeRedraw(1), 'all')
  assert.deepEqual(timesOf(book), [60, 120, 180])
  book.remove(180)
  assert.equal(book.takeRedraw(1), 'all')
  assert.deepEqual(timesOf(book), [60, 120])
  book.remove(999)
  assert.deepEqual(book.takeRedraw(1), [])
})

test('the smallest prices are scaled into a range that can be drawn', () => {
  assert.equal(scaleOf({ close: '63000' }), 1)
  const scale = scaleOf({ close: '0.000000000000123' })
  const book = new CandleBook()
  book.replace([{ ...candle(60), close: '0.000000000000123' }])
  assert.ok(Math.abs((book.bars(scale)[0]?.close ?? 0) - 1.23) < 1e-9)
})
