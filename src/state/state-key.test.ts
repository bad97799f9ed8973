import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { solanaAddress } from '../../test/support/arbitraries/value-arbitraries.ts'
import { decodeStateKey, encodeStateKey } from './state-key.ts'

const ADDRESS = `0x${'ab'.repeat(20)}`
const WALLET = `0x${'01'.repeat(20)}`

const hex = fc.uint8Array({ maxLength: 70 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const part = fc.oneof(
  hex,
  text,
  solanaAddress,
  fc.constantFrom('', '0x', '0xABCD', '0xabc', '0x\u0130\u0130', 'only', '\0'),
)
const key = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))

test('every key is itself again', () => {
  fc.assert(fc.property(key, (one) => assert.equal(decodeStateKey(encodeStateKey(one)), one)))
})

test('two keys are never the same bytes', () => {
  fc.assert(
    fc.property(key, key, (one, other) => {
      const bytes = Buffer.from(encodeStateKey(one))
      assert.equal(Buffer.compare(bytes, encodeStateKey(other)) === 0, one === other)
    }),
  )
})

test('keys of one address are adjacent and short', () => {
  const keys = [`pair/${ADDRESS}`, `seen/${ADDRESS}/${WALLET}`, `candles/${ADDRESS}`, `pair/${WALLET}`]
  const sorted = keys.map((name) => Buffer.from(encodeStateKey(name))).sort(Buffer.compare)
  assert.deepEqual(sorted.map(decodeStateKey), [
    `pair/${WALLET}`,
    `seen/${ADDRESS}/${WALLET}`,
    `candles/${ADDRESS}`,
    `pair/${ADDRESS}`,
  ])
  assert.equal(encodeStateKey(`pair/${ADDRESS}`).length, 1 + 20 + 1 + 4)
})

test('a key that the store could not take is refused', () => {
  assert.throws(() => encodeStateKey('k'.repeat(601)), RangeError)
  assert.equal(decodeStateKey(encodeStateKey('\u20ac'.repeat(600))), '\u20ac'.repeat(600))
})
