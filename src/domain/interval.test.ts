import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { interval as anyInterval } from '../../test/support/arbitraries/value-arbitraries.ts'
import { candleStart, INTERVALS, intervalSeconds, isInterval, pushedInterval } from './interval.ts'

const FIRST_MONDAY = Date.UTC(1970, 0, 5) / 1000

// Block times, including the first days of Unix time, whose week began before the epoch.
const time = fc.oneof(
  fc.nat(2 * FIRST_MONDAY),
  fc.integer({ min: 1_400_000_000, max: 2_000_000_000 }),
  fc.nat(2 ** 32),
)

function mondayOf(seconds: number): number {
  const date = new Date(seconds * 1000)
  date.setUTCHours(0, 0, 0, 0)
  while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1)
  return date.getTime() / 1000
}

/** Reference: truncates calendar fields instead of dividing. */
function startByCalendar(minutes: number, seconds: number): number {
  const date = new Date(seconds * 1000)
  const minuteOfDay = date.getUTCHours() * 60 + date.getUTCMinutes()
  date.setUTCHours(0, Math.floor(minuteOfDay / minutes) * minutes, 0, 0)
  return date.getTime() / 1000
}

test('weeks start on Monday, including the week of the epoch', () => {
  fc.assert(fc.property(time, (at) => assert.equal(candleStart('k10080', at), mondayOf(at))))
  assert.equal(candleStart('k10080', 0), Date.UTC(1969, 11, 29) / 1000)
  assert.equal(candleStart('k10080', FIRST_MONDAY - 1), Date.UTC(1969, 11, 29) / 1000)
  assert.equal(candleStart('k10080', FIRST_MONDAY), FIRST_MONDAY)
})

test('shorter candles align with the UTC clock', () => {
  const minutes = [1, 5, 15, 30, 60, 120, 240, 1440] as const
  fc.assert(
    fc.property(time, fc.constantFrom(...minutes), (at, count) => {
      assert.equal(candleStart(`k${count}`, at), startByCalendar(count, at))
      assert.equal(candleStart('s1', at), at)
    }),
  )
})

test('a candle contains its time, starts on its own boundary and follows the previous one without a gap', () => {
  fc.assert(
    fc.property(anyInterval, time, (interval, at) => {
      const start = candleStart(interval, at)
      assert.ok(start <= at && at < start + intervalSeconds(interval))
      assert.equal(candleStart(interval, start), start)
      assert.equal(candleStart(interval, start + intervalSeconds(interval) - 1), start)
      assert.equal(
        candleStart(interval, start + intervalSeconds(interval)),
        start + intervalSeconds(interval),
      )
    }),
  )
})

test('a candle lies entirely inside the next longer one', () => {
  fc.assert(
    fc.property(fc.nat(INTERVALS.length - 2), time, (shorter, at) => {
      const [short, long] = [INTERVALS[shorter], INTERVALS[shorter + 1]]
      assert.ok(short !== undefined && long !== undefined)
      assert.equal(candleStart(long, candleStart(short, at)), candleStart(long, at))
    }),
  )
})

test('interval names', () => {
  assert.deepEqual(
    INTERVALS.map((interval) => [interval, intervalSeconds(interval), pushedInterval(interval)]),
    [
      ['s1', 1, 's1'],
      ['k1', 60, '1'],
      ['k5', 300, '5'],
      ['k15', 900, '15'],
      ['k30', 1_800, '30'],
      ['k60', 3_600, '60'],
      ['k120', 7_200, '120'],
      ['k240', 14_400, '240'],
      ['k1440', 86_400, '1440'],
      ['k10080', 604_800, '10080'],
    ],
  )
  assert.deepEqual(['k1', 'k2', '1', 'K1', '', '__proto__', 'length'].filter(isInterval), ['k1'])
})
