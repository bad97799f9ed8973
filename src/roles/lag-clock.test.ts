import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LagClock } from './lag-clock.ts'

test('lag starts when the input first reached an unprocessed end', () => {
  let now = 0
  const clock = new LagClock(() => now)
  clock.observe(10, () => 10)
  assert.equal(clock.seconds, 0)
  now = 1_000
  clock.observe(12, () => 10)
  now = 4_000
  clock.observe(20, () => 10)
  assert.equal(clock.seconds, 3)
  // The role has reached 12, seen at 1 s, but not 20, seen at 4 s.
  now = 6_000
  clock.observe(20, () => 15)
  assert.equal(clock.seconds, 2)
  clock.observe(20, () => 20)
  assert.equal(clock.seconds, 0)
})

test('a chain without new blocks has no lag, and neither has one whose log was recreated', () => {
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

test('a role that catches up between two observations has no lag', () => {
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
