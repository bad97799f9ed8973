import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pace } from './pace.ts'

test('only the last minute counts', () => {
  const pace = new Pace()
  let done = 0
  for (let second = 0; second < 600; second++) {
    pace.observe(done, second * 1_000)
    done += second < 300 ? 1_000 : 10
  }
  assert.equal(Math.round(pace.perSecond(done, 600_000)), 10)
  assert.equal(pace.secondsLeft(done, done + 3_600, 600_000), 360)
})

test('there is no estimate before the first step, and none is left at the end', () => {
  const pace = new Pace()
  assert.equal(pace.perSecond(5, 0), 0)
  pace.observe(5, 0)
  assert.equal(pace.secondsLeft(5, 10, 1_000), undefined)
  assert.equal(pace.secondsLeft(10, 10, 1_000), 0)
})
