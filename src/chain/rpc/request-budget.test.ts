import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestBudget } from './request-budget.ts'

const DAY_MS = 86_400_000
const NOON = 20_000 * DAY_MS + DAY_MS / 2

/** How many requests go out in the next seconds, asking every millisecond. */
function sent(budget: RequestBudget, seconds: number, isBackground: boolean, from = 0): number {
  let count = 0
  for (let now = from; now < from + seconds * 1_000; now++)
    while (budget.waitMs(now, isBackground) === 0) {
      budget.take(now)
      count++
    }
  return count
}

test('without limits nothing waits', () => {
  const budget = new RequestBudget({}, () => NOON)
  for (let at = 0; at < 10_000; at++) budget.take(0)
  assert.equal(budget.waitMs(0, true), 0)
  assert.equal(budget.leftToday, undefined)
})

test('requests a second are bounded, after a burst of one second', () => {
  const budget = new RequestBudget({ perSecond: 10 }, () => NOON)
  assert.equal(sent(budget, 10, false), 10 + 99)
})

test('background work leaves room: a live request never waits for it', () => {
  const budget = new RequestBudget({ perSecond: 10 }, () => NOON)
  const background = sent(budget, 10, true)
  assert.ok(background > 80 && background <= 110, String(background))
  for (let at = 0; at < 4; at++) {
    assert.equal(budget.waitMs(10_000, false), 0)
    budget.take(10_000)
  }
  assert.ok(budget.waitMs(10_000, true) > 0)
})

test('one request a second is enough for both', () => {
  const budget = new RequestBudget({ perSecond: 1 }, () => NOON)
  assert.equal(sent(budget, 5, true), 5)
})

test('background work stops at half of the day, everything at its end, and midnight begins a new one', () => {
  let wallMs = NOON
  const budget = new RequestBudget({ perDay: 100 }, () => wallMs)
  assert.equal(sent(budget, 1, true), 50)
  assert.equal(budget.waitMs(0, true), DAY_MS / 2)
  assert.equal(sent(budget, 1, false), 50)
  assert.equal(budget.leftToday, 0)
  assert.equal(budget.waitMs(0, false), DAY_MS / 2)
  wallMs += DAY_MS / 2
  assert.equal(budget.waitMs(0, true), 0)
  assert.equal(budget.leftToday, 100)
})

test('what an earlier process spent today counts, and what it spent yesterday does not', () => {
  const today = 20_000
  const continued = new RequestBudget({ perDay: 100 }, () => NOON, { day: today, requests: 70 })
  assert.equal(continued.leftToday, 30)
  const later = new RequestBudget({ perDay: 100 }, () => NOON, { day: today - 1, requests: 70 })
  assert.equal(later.leftToday, 100)
})
