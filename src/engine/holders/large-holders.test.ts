import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLarge } from './large-holders.ts'

const held = (holder: string, amountRaw: bigint) => ({ holder, amountRaw })

test('a holder of 2 % is listed while it holds that much', () => {
  const two = withLarge([], [held('b', 2n), held('a', 50n), held('c', 1n)], 100n)
  assert.deepEqual(two, [held('a', 50n), held('b', 2n)])
  assert.deepEqual(withLarge(two, [held('a', 1n), held('b', 3n)], 100n), [held('b', 3n)])
  assert.equal(withLarge(two, [held('c', 1n), held('d', 0n)], 100n), two)
})

test('a token with a false supply has at most fifty large holders, the largest ones', () => {
  const all = Array.from({ length: 1_000 }, (_, at) =>
    held(`h${String(at).padStart(4, '0')}`, BigInt(at + 1)),
  )
  const large = withLarge([], all, 1n)
  assert.deepEqual(large, all.slice(-50))
  assert.equal(withLarge(large, [held('x', 1n)], 1n).length, 50)
})

test('nothing is a large part of nothing', () => {
  for (const supply of [0n, -5n]) assert.deepEqual(withLarge([], [held('a', 10n)], supply), [])
})
