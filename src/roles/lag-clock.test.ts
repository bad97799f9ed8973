import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LagClock } from './lag-clock.ts'

test('lag is counted from when the input first reached what is not processed yet', () => {
  let now = 0
  const clock = new LagClock(() => now)
  clock.observe(10, () => 10)
  assert.equal(clock.seconds, 0)
  now = 1_000
  clock.observe(12, () => 10)
  now = 4_000
  clock.observe(20, () => 10)
  assert.equal(clock.seconds, 3)
  // It has reached 12, which was there at 1 s, but not 20, which was there at 4 s.
  now = 6_000
  clock.observe(20, () => 15)
  assert.equal(clock.seconds, 2)
  clock.observe(20, () => 20)
  assert.equal(clock.seconds, 0)
})

test('a chain that stands still is not behind, and neither is one whose log was created anew', () => {
  let now = 0
  const clock = new LagClock(() => now)
  clock.observe(10, () => 10)
  now = 3_600_000
  clock.observe(10, () => 10)
  assert.equal(clock.seconds, 0)
  clock.observe(30, () => 10)
  now += 5_000
  clock.observe(3, () => 3)
  assert.equal(clock.seconds, 0)
})

test('a role that catches up between two observations is not behind any more', () => {
  let [now, position] = [0, 10]
  const clock = new LagClock(() => now)
  clock.observe(20, () => position)
  now = 59_000
  position = 20
  assert.equal(clock.seconds, 0)
  position = 19
  clock.observe(25, () => position)
  now = 62_000
  assert.equal(clock.seconds, 3)
})
