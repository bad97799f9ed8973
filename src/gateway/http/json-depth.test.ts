import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { isTooDeep } from './json-depth.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

test('brackets nest up to ten deep', () => {
  assert.equal(isTooDeep(nested(10)), false)
  assert.equal(isTooDeep(nested(11)), true)
  assert.equal(isTooDeep('{"a":'.repeat(11)), true)
  assert.equal(isTooDeep(nested(10).repeat(100)), false)
})

test('brackets in strings do not count, whatever is escaped there', () => {
  assert.equal(isTooDeep(JSON.stringify('['.repeat(100))), false)
  assert.equal(isTooDeep(`["\\"${'['.repeat(100)}\\\\"]`), false)
  assert.equal(isTooDeep(`["\\\\"${nested(10)}]`), true)
})

test('any JSON is too deep exactly if its values are', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map((each) => depthOf(each)))
      : 0
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 14, depthSize: 'max' }), (value) => {
      assert.equal(isTooDeep(JSON.stringify(value)), depthOf(value) > 10)
    }),
  )
})
