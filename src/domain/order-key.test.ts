import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { orderKey, text } from '../../test/support/arbitraries/value-arbitraries.ts'
import { compareOrderKeys, formatOrderKey, type OrderKey, parseOrderKey, publicEventId } from './order-key.ts'

const near = fc.record(
  { block: fc.integer({ min: 95, max: 105 }), tx: fc.nat(2), log: fc.nat(2) },
  { noNullPrototype: true },
)

function compareTuples(a: OrderKey, b: OrderKey): number {
  const left = [a.block, a.tx, a.log]
  const right = [b.block, b.tx, b.log]
  const at = left.findIndex((value, i) => value !== right[i])
  return at < 0 ? 0 : Math.sign((left[at] as number) - (right[at] as number))
}

test('a key survives formatting and parsing', () => {
  fc.assert(fc.property(orderKey, (key) => assert.deepEqual(parseOrderKey(formatOrderKey(key)), key)))
})

test('keys sort like their tuples', () => {
  fc.assert(
    fc.property(fc.oneof(fc.tuple(orderKey, orderKey), fc.tuple(near, near)), ([a, b]) => {
      assert.equal(Math.sign(compareOrderKeys(a, b)), compareTuples(a, b))
    }),
  )
})

test('texts of equal length sort like their keys, and a longer text is a later block', () => {
  fc.assert(
    fc.property(fc.oneof(fc.tuple(orderKey, orderKey), fc.tuple(near, near)), ([a, b]) => {
      const left = formatOrderKey(a)
      const right = formatOrderKey(b)
      const byText = left === right ? 0 : left < right ? -1 : 1
      assert.equal(
        left.length === right.length ? byText : Math.sign(left.length - right.length),
        compareTuples(a, b),
      )
    }),
  )
})

test('each key has exactly one text', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 32 })
  fc.assert(
    fc.property(fc.oneof(digits, text), (written) => {
      const key = parseOrderKey(written)
      if (key !== undefined) assert.equal(formatOrderKey(key), written)
    }),
  )
  assert.equal(parseOrderKey('01000000000000'), undefined)
})

test('malformed keys are refused', () => {
  const zeros = '0'.repeat(12)
  for (const written of [
    '',
    '1',
    zeros,
    `-1${zeros}`,
    `1${zeros} `,
    ` 1${zeros}`,
    `1e3${zeros}`,
    `1.5${zeros}`,
    `9007199254740992${zeros}`,
  ]) {
    assert.equal(parseOrderKey(written), undefined, JSON.stringify(written))
  }
  assert.deepEqual(parseOrderKey(`9007199254740991${zeros}`), {
    block: Number.MAX_SAFE_INTEGER,
    tx: 0,
    log: 0,
  })
})

test('a key out of range is not formatted, because it would sort in the wrong place', () => {
  for (const wrong of [-1, 0.5, 1_000_000, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => formatOrderKey({ block: 1, tx: wrong, log: 0 }), RangeError)
    assert.throws(() => formatOrderKey({ block: 1, tx: 0, log: wrong }), RangeError)
  }
  for (const wrong of [-1, 0.5, 2 ** 53, Number.NaN]) {
    assert.throws(() => formatOrderKey({ block: wrong, tx: 0, log: 0 }), RangeError)
  }
})

test('the public id of a swap is its block and its log index', () => {
  assert.equal(publicEventId({ block: 17_000_000, tx: 3, log: 42 }), '17000000-42')
})
