import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { magnitudeOf } from './magnitude.ts'

const amount = fc.oneof(fc.bigInt({ min: 1n, max: 300n }), fc.bigInt({ min: 1n, max: 2n ** 255n - 1n }))

test('magnitude never decreases with the amount, and grows when the amount doubles', () => {
  fc.assert(
    fc.property(amount, amount, (a, b) => {
      const [less, more] = a < b ? [a, b] : [b, a]
      assert.ok(magnitudeOf(less) <= magnitudeOf(more))
      if (more >= 2n * less) assert.ok(magnitudeOf(less) < magnitudeOf(more))
      if (more * 16n >= less * 17n) assert.ok(magnitudeOf(less) < magnitudeOf(more))
    }),
  )
})

test('magnitude fits in 16 bits, and is 0 for zero or negative amounts', () => {
  assert.deepEqual([magnitudeOf(0n), magnitudeOf(-7n)], [0, 0])
  assert.ok(magnitudeOf(1n) > 0)
  assert.ok(magnitudeOf(2n ** 256n - 1n) < 2 ** 16)
})
