import assert from 'node:assert/strict'
import test from 'node:test'
import { type FoundTopic, SharedTopics } from './shared-topics.ts'

const found = (identity: string, ...keys: string[]): FoundTopic => ({
  identity,
  name: 'price',
  sources: keys.map((key) => ({ kind: 'event', key, chain: 'eth' })),
})

test('equal subscriptions share one topic, until the last has gone', () => {
  const topics = new SharedTopics()
  const first = topics.hold(found('a', 'x', 'y'))
  assert.equal(topics.hold(found('a', 'x', 'y')), first)
  assert.notEqual(topics.hold(found('b', 'x', 'y')), first)
  topics.release(first)
  assert.equal(topics.hold(found('a', 'x', 'y')), first)
  topics.release(first)
  topics.release(first)
  assert.equal(topics.size, 1)
})

test('the same words, of which more exists by now, are another topic; later ones share that', () => {
  const topics = new SharedTopics()
  const first = topics.hold(found('a', 'x'))
  const second = topics.hold(found('a', 'x', 'y'))
  assert.deepEqual(
    [first, second].map(({ sources }) => sources.length),
    [1, 2],
  )
  assert.equal(topics.hold(found('a', 'x', 'y')), second)
  topics.release(first)
  topics.release(second)
  assert.equal(topics.size, 1)
  topics.release(second)
  assert.equal(topics.size, 0)
})
