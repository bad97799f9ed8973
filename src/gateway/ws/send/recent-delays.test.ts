import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecentDelays } from './recent-delays.ts'

const NOW = Date.UTC(2026, 0, 1)
const WINDOW_MS = RecentDelays.windowSeconds * 1_000

/** The exact quantile: the smallest delay that at least this share of all delays does not exceed. */
function exact(delays: readonly number[], share: number): number {
  const sorted = [...delays].sort((one, other) => one - other)
  return sorted[Math.ceil(share * sorted.length) - 1] as number
}

test('quantiles differ from the exact ones by at most 5 %, or 1 ms', () => {
  const delay = fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 24 * 3_600_000 }))
  fc.assert(
    fc.property(fc.array(delay, { minLength: 1, maxLength: 300 }), (delays) => {
      const recent = new RecentDelays()
      for (const ms of delays) recent.add(ms, NOW)
      const found = recent.quantiles(NOW)
      for (const [share, value = Number.NaN] of [
        [0.5, found?.p50],
        [0.99, found?.p99],
      ] as const) {
        const expected = exact(delays, share)
        assert.ok(Math.abs(value - expected) <= Math.max(1, 0.05 * expected), `${value}, not ${expected}`)
      }
    }),
  )
})

test('delays leave the window, one slice after the other', () => {
  const recent = new RecentDelays()
  recent.add(10_000, NOW)
  for (let push = 0; push < 9; push++) recent.add(100, NOW + WINDOW_MS / 2)
  assert.ok((recent.quantiles(NOW + WINDOW_MS / 2)?.p99 ?? 0) > 9_000)
  const later = recent.quantiles(NOW + WINDOW_MS)
  assert.ok(later !== undefined && later.p99 < 110, JSON.stringify(later))
  assert.equal(recent.quantiles(NOW + 2 * WINDOW_MS), undefined)
})

test('nothing is known before the first delay, and after a long pause', () => {
  const recent = new RecentDelays()
  assert.equal(recent.quantiles(NOW), undefined)
  recent.add(5, NOW)
  assert.equal(recent.quantiles(NOW + 100 * WINDOW_MS), undefined)
  recent.add(5, NOW + 100 * WINDOW_MS)
  assert.equal(recent.quantiles(NOW + 100 * WINDOW_MS)?.p50, 5)
})

test('a clock that is set back starts a new window', () => {
  const recent = new RecentDelays()
  recent.add(60_000, NOW + 3_600_000)
  recent.add(20, NOW)
  assert.ok((recent.quantiles(NOW)?.p99 ?? Number.NaN) < 25)
  assert.equal(recent.quantiles(NOW + WINDOW_MS), undefined)
})

test('impossible and endless delays are counted at the ends', () => {
  const recent = new RecentDelays()
  for (const ms of [-5, Number.NaN]) recent.add(ms, NOW)
  assert.equal(recent.quantiles(NOW)?.p99, 1)
  for (let push = 0; push < 10; push++) recent.add(Number.POSITIVE_INFINITY, NOW)
  assert.ok((recent.quantiles(NOW)?.p50 ?? 0) > 20 * 3_600_000)
})
