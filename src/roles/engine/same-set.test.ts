import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storySets } from '../../../test/support/builders/story.ts'
import { encodeChangeSet } from '../../wire/change-codec.ts'
import { hasAllOf, isSameSet } from './same-set.ts'

test('a set is the published one if its bytes are equal, and not if they differ in the same version', () => {
  const [first, second] = storySets({ chain: 'eth', seed: 3, messages: 2 }).sets.map(encodeChangeSet)
  assert.ok(first && second)
  assert.equal(isSameSet(first, Uint8Array.from(first)), true)
  assert.equal(isSameSet(first, second), false)
})

test('a later version may add fields, and change none', () => {
  const trade = { key: { block: 1 }, amount: 5n, side: undefined, list: [1, 2] }
  assert.equal(hasAllOf({ ...trade, side: 'buy', profile: 'x' }, trade), true)
  assert.equal(hasAllOf({ ...trade, amount: 6n }, trade), false)
  assert.equal(hasAllOf({ ...trade, key: { block: 2 } }, trade), false)
  assert.equal(hasAllOf({ ...trade, list: [1, 2, 3] }, trade), false)
  assert.equal(hasAllOf({ key: { block: 1 }, list: [1, 2] }, trade), false)
})
