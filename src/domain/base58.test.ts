import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BASE58_BYTES, base58Text, readBase58, signatureText } from './base58.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The definition, digit by digit. */
function reference(bytes: Uint8Array): string {
  let rest = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let digits = ''
  for (; rest > 0n; rest /= 58n) digits = ALPHABET.charAt(Number(rest % 58n)) + digits
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + digits
}

function bytesOf(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(BASE58_BYTES)
  return readBase58(text, bytes, 0) ? bytes : undefined
}

const anyBytes = (size: number) =>
  fc
    .tuple(fc.uint8Array({ minLength: size, maxLength: size }), fc.nat(size), fc.constantFrom(0, 1, 255))
    .map(([bytes, count, filler]) => bytes.fill(filler, 0, filler === 1 ? 0 : count))

test('32 bytes and their text are each other', () => {
  fc.assert(
    fc.property(anyBytes(32), (bytes) => {
      const text = reference(bytes)
      assert.equal(base58Text(bytes, 0), text)
      assert.deepEqual(bytesOf(text), bytes)
    }),
    { numRuns: 2_000 },
  )
})

test('a signature has the text of its 64 bytes', () => {
  fc.assert(
    fc.property(anyBytes(64), (bytes) => assert.equal(signatureText(bytes), reference(bytes))),
    { numRuns: 2_000 },
  )
})

test('only the text of exactly 32 bytes is read', () => {
  const near = fc.oneof(
    ...[30, 31, 33, 34].map((size) => anyBytes(size).map(reference)),
    anyBytes(32).map((bytes) => `1${reference(bytes)}`),
    fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 31, maxLength: 45 }),
    fc
      .tuple(
        anyBytes(32),
        fc.nat(),
        fc.constantFrom('0', 'O', 'I', 'l', ' ', '/', '\0', 'é', '\u0131', '\u{1f680}'),
      )
      .map(([bytes, place, wrong]) => {
        const text = reference(bytes)
        const at = place % text.length
        return text.slice(0, at) + wrong + text.slice(at + 1)
      }),
  )
  fc.assert(
    fc.property(near, (text) => {
      const bytes = bytesOf(text)
      if (bytes !== undefined) assert.equal(reference(bytes), text)
      else assert.ok(!isText(text), text)
    }),
    { numRuns: 5_000 },
  )
})

/** Whether the text is that of 32 bytes, by the definition. */
function isText(text: string): boolean {
  if (![...text].every((letter) => ALPHABET.includes(letter))) return false
  let value = 0n
  for (const letter of text) value = value * 58n + BigInt(ALPHABET.indexOf(letter))
  if (value >= 1n << 256n) return false
  return reference(Buffer.from(value.toString(16).padStart(64, '0'), 'hex')) === text
}

test('the extremes are read', () => {
  assert.deepEqual(bytesOf('1'.repeat(32)), new Uint8Array(32))
  assert.equal(bytesOf('1'.repeat(31)), undefined)
  assert.equal(bytesOf('1'.repeat(33)), undefined)
  const highest = reference(new Uint8Array(32).fill(255))
  assert.deepEqual(bytesOf(highest), new Uint8Array(32).fill(255))
  assert.equal(bytesOf(`${highest.slice(0, -1)}H`), undefined)
  assert.equal(bytesOf('z'.repeat(44)), undefined)
  assert.equal(base58Text(new Uint8Array(40).fill(255), 8), highest)
})
