import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleSet, sampleTrade } from '../../../test/support/builders/market-samples.ts'
import { ChainActivities } from './chain-activity.ts'

function setUp() {
  const clock = { seconds: 1_000 }
  const activities = new ChainActivities(() => clock.seconds * 1_000)
  const apply = (number: number, cause: 'block' | 'undo' | 'final' = 'block', trades = 0): void => {
    const changes = Array.from({ length: trades }, () => ({ type: 'trade' as const, trade: sampleTrade() }))
    const set = sampleSet(1, changes)
    activities.apply({ ...set, cause, head: { ...set.head, number } })
  }
  return { clock, activities, apply }
}

test('a chain that was never followed has no activity', () => {
  assert.equal(setUp().activities.of('eth'), undefined)
})

test('blocks and trades count for a minute', () => {
  const { clock, activities, apply } = setUp()
  apply(1, 'block', 2)
  apply(1, 'final')
  clock.seconds += 59
  apply(2, 'block', 3)
  assert.deepEqual(activities.of('eth')?.lastMinute, { blocks: 2, trades: 5 })
  clock.seconds += 1
  assert.deepEqual(activities.of('eth')?.lastMinute, { blocks: 1, trades: 3 })
  clock.seconds += 59
  assert.deepEqual(activities.of('eth')?.lastMinute, { blocks: 0, trades: 0 })
})

test('reorgs count with their depth, and a head that stays is none', () => {
  const { clock, activities, apply } = setUp()
  // The head before is not known.
  apply(7, 'undo')
  assert.deepEqual(activities.of('eth')?.reorgs, { count: 0, deepest: 0, lastAt: undefined })
  for (const number of [8, 9, 10]) apply(number)
  apply(10, 'undo')
  apply(7, 'undo')
  clock.seconds += 5
  apply(8)
  apply(7, 'undo')
  assert.deepEqual(activities.of('eth')?.reorgs, { count: 2, deepest: 3, lastAt: 1_005 })
})
