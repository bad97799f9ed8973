import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { API_KEY_RANDOM_BYTES, formatApiKey, isApiKey, withoutApiKeys } from './api-key.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomBytes = fc.uint8Array({ minLength: API_KEY_RANDOM_BYTES, maxLength: API_KEY_RANDOM_BYTES })
const apiKeys = randomBytes.map(formatApiKey)

test('the key format is stable: keys issued earlier stay valid', () => {
  assert.equal(formatApiKey(new Uint8Array(32)), 'ctk_0000000000000000000000000000002C8GjS')
  assert.equal(formatApiKey(new Uint8Array(32).fill(0xff)).length, 40)
  assert.throws(() => formatApiKey(new Uint8Array(16)), RangeError)
})

test('every generated key is valid and carries 178 bits of its random bytes', () => {
  fc.assert(
    fc.property(randomBytes, (bytes) => {
      const key = formatApiKey(bytes)
      assert.match(key, /^ctk_[0-9A-Za-z]{36}$/)
      assert.ok(isApiKey(key))
      const number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
      const read = [...key.slice(4, 34)].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n)
      assert.equal(read, number % 62n ** 30n)
    }),
  )
})

test('a changed, swapped, added or missing character makes a key invalid', () => {
  fc.assert(
    fc.property(apiKeys, fc.nat(39), fc.constantFrom(...DIGITS), (key, at, digit) => {
      const altered = key.slice(0, at) + digit + key.slice(at + 1)
      assert.equal(isApiKey(altered), altered === key)
      const swapped =
        key.slice(0, at) +
        key
          .slice(at, at + 2)
          .split('')
          .reverse()
          .join('') +
        key.slice(at + 2)
      assert.equal(isApiKey(swapped), swapped === key)
      assert.equal(isApiKey(key + digit), false)
      assert.equal(isApiKey(key.slice(0, at) + key.slice(at + 1)), false)
    }),
  )
})

test('other texts are not keys', () => {
  fc.assert(fc.property(fc.string(), (text) => !isApiKey(text)))
  for (const text of ['', 'ctk_', 'ctk_\n', `ctk_${'0'.repeat(36)}`]) assert.equal(isApiKey(text), false)
})

test('withoutApiKeys removes whole and partial keys from a text', () => {
  fc.assert(
    fc.property(
      fc.string(),
      apiKeys,
      fc.string(),
      fc.integer({ min: 12, max: 40 }),
      (head, key, tail, cut) => {
        const shown = withoutApiKeys(`${head} ${key.slice(0, cut)} ${tail}`)
        assert.ok(!shown.includes(key.slice(0, cut)))
      },
    ),
  )
  assert.equal(withoutApiKeys('nothing to hide, not even ctk_'), 'nothing to hide, not even ctk_')
})
