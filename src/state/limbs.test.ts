import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import * as limbs from './limbs.ts'
import { Memory } from './memory.ts'

const LIMIT = 2n ** 256n
const WIDE_LIMIT = 2n ** 320n

/** Numbers at the limits of limbs and types, and any others. */
const near = fc
  .tuple(fc.integer({ min: 0, max: 256 }), fc.bigInt({ min: -2n, max: 2n }))
  .map(([power, off]) => 2n ** BigInt(power) + off)
  .filter((value) => value >= 0n && value < LIMIT)
const number = fc.oneof(near, fc.bigInt({ min: 0n, max: LIMIT - 1n }), fc.constantFrom(0n, LIMIT - 1n))
const wide = fc.oneof(
  number,
  fc.bigInt({ min: 0n, max: WIDE_LIMIT - 1n }),
  fc.constantFrom(WIDE_LIMIT - 1n, LIMIT),
)

/** Both numbers have neighbors that must not change. */
const A = 2
const B = 14
function memoryOf(a: bigint, b: bigint, wideLimbs = limbs.LIMBS): Memory {
  const memory = new Memory(26)
  memory.words.fill(0xdead_beef)
  limbs.writeBigint(memory, A, a, wideLimbs)
  limbs.writeBigint(memory, B, b)
  return memory
}

function assertRestUntouched({ words }: Memory, wideLimbs = limbs.LIMBS): void {
  for (const [at, word] of words.entries()) {
    const isInside = (at >= A && at < A + wideLimbs) || (at >= B && at < B + limbs.LIMBS)
    if (!isInside) assert.equal(word, 0xdead_beef)
  }
}

test('limbs hold what a bigint holds', () => {
  fc.assert(
    fc.property(number, wide, (a, b) => {
      const memory = new Memory(20)
      limbs.writeBigint(memory, 0, a)
      limbs.writeBigint(memory, 8, b, 10)
      assert.deepEqual([limbs.readBigint(memory, 0), limbs.readBigint(memory, 8, 10)], [a, b])
      assert.equal(limbs.isZero(memory.words, 0), a === 0n)
      assert.equal(limbs.isZeroLimbs(memory.words, 8, 10), b === 0n)
    }),
  )
})

test('numbers beyond the limbs, or below zero, are refused', () => {
  const memory = new Memory(10)
  for (const value of [-1n, LIMIT]) assert.throws(() => limbs.writeBigint(memory, 0, value), RangeError)
  assert.throws(() => limbs.writeBigint(memory, 0, WIDE_LIMIT, 10), RangeError)
})

test('compare, copy, clear', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const memory = memoryOf(a, b)
      const { words } = memory
      const order = a < b ? -1 : a > b ? 1 : 0
      assert.equal(limbs.compare(words, A, words, B), order)
      assert.equal(limbs.compareLimbs(words, A, 8, words, B, 8), order)
      limbs.copy(words, A, words, B)
      assert.equal(limbs.readBigint(memory, A), b)
      limbs.clear(words, B)
      assert.equal(limbs.readBigint(memory, B), 0n)
      assertRestUntouched(memory)
    }),
  )
})

test('add and subtract wrap at the limit and report it', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [sum, difference] = [memoryOf(a, b), memoryOf(a, b)]
      assert.equal(limbs.add(sum.words, A, sum.words, B), a + b >= LIMIT ? 1 : 0)
      assert.equal(limbs.readBigint(sum, A), (a + b) % LIMIT)
      assert.equal(limbs.subtract(difference.words, A, difference.words, B), a < b ? 1 : 0)
      assert.equal(limbs.readBigint(difference, A), (a - b + LIMIT) % LIMIT)
      for (const memory of [sum, difference]) assertRestUntouched(memory)
    }),
  )
})

test('a wide sum exceeds the limit and returns below it exactly', () => {
  fc.assert(
    fc.property(wide, number, (a, b) => {
      const memory = memoryOf(a, b, 10)
      const { words } = memory
      assert.equal(limbs.compareLimbs(words, A, 10, words, B, 8), a < b ? -1 : a > b ? 1 : 0)
      const carry = limbs.addTo(words, A, 10, words, B, 8)
      assert.equal(carry, a + b >= WIDE_LIMIT ? 1 : 0)
      assert.equal(limbs.readBigint(memory, A, 10), (a + b) % WIDE_LIMIT)
      assert.equal(limbs.subtractFrom(words, A, 10, words, B, 8), carry)
      assert.equal(limbs.readBigint(memory, A, 10), a)
      assertRestUntouched(memory, 10)
    }),
  )
})

test('the wire has the same bytes', () => {
  fc.assert(
    fc.property(number, (value) => {
      const memory = memoryOf(value, 0n)
      const w = new ByteWriter()
      w.biguint(value)
      const bytes = new Uint8Array(40).fill(0xee)
      const end = limbs.writeLimbs(bytes, 3, memory.words, A)
      assert.deepEqual([...bytes.slice(3, end)], [...w.finish()])
      assert.deepEqual([bytes[2], bytes[end]], [0xee, 0xee])
      assert.equal(new ByteReader(bytes, 3).biguint(), value)
      assert.equal(limbs.readLimbs(bytes, 3, memory.words, B), end)
      assert.equal(limbs.readBigint(memory, B), value)
    }),
  )
})

test('a number of the wire that has no room is refused', () => {
  const bytes = new Uint8Array(40).fill(1)
  bytes[0] = 33
  assert.throws(() => limbs.readLimbs(bytes, 0, new Uint32Array(8), 0), RangeError)
  assert.equal(limbs.readLimbs(bytes, 0, new Uint32Array(10), 0, 10), 34)
})

test('a word of a contract', () => {
  fc.assert(
    fc.property(number, (value) => {
      const word = Buffer.from(`ff${value.toString(16).padStart(64, '0')}`, 'hex')
      const memory = new Memory(8)
      limbs.limbsOfWord(memory.words, 0, new DataView(word.buffer, word.byteOffset), 1)
      assert.equal(limbs.readBigint(memory, 0), value)
    }),
  )
})
