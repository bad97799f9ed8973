import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { addressAt, topicAddress, uintAt } from './abi.ts'

const MAX_UINT256 = 2n ** 256n - 1n

function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

describe('uintAt', () => {
  test('reads any word, whatever its size and wherever the bytes lie in their buffer', () => {
    const edges = [0n, 1n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 112n - 1n, 2n ** 255n, MAX_UINT256]
    const uint = fc.oneof(
      fc.constantFrom(...edges),
      fc.bigInt({ min: 0n, max: MAX_UINT256 }),
      fc.bigInt({ min: 0n, max: 2n ** 66n }),
    )
    fc.assert(
      fc.property(fc.array(uint, { minLength: 1, maxLength: 5 }), fc.nat(40), (values, shift) => {
        const whole = Buffer.concat([Buffer.alloc(shift, 0xff), ...values.map(word)])
        const data = new Uint8Array(whole.buffer, whole.byteOffset + shift, values.length * 32)
        assert.deepEqual(
          values.map((_, index) => uintAt(data, index)),
          values,
        )
        assert.equal(uintAt(data, values.length), undefined)
      }),
    )
  })

  test('a word that is cut short is not a number', () => {
    assert.equal(uintAt(new Uint8Array(0), 0), undefined)
    assert.equal(uintAt(new Uint8Array(31), 0), undefined)
    assert.equal(uintAt(new Uint8Array(63), 1), undefined)
  })
})

describe('addresses', () => {
  const address = '0x5c72ecd763be11e8e202490bac14b12402e77716'

  test('an address is the lower twenty bytes', () => {
    const padded = `0x${'0'.repeat(24)}${address.slice(2)}`
    assert.equal(topicAddress(padded), address)
    const data = Buffer.concat([word(7n), Buffer.from(padded.slice(2), 'hex')])
    assert.equal(addressAt(data, 1), address)
  })

  test('a word with anything in its upper bytes is no address', () => {
    for (const upper of ['1'.padStart(24, '0'), '1'.padEnd(24, '0'), 'f'.repeat(24)]) {
      const dirty = `0x${upper}${address.slice(2)}`
      assert.equal(topicAddress(dirty), undefined)
      assert.equal(addressAt(Buffer.from(dirty.slice(2), 'hex'), 0), undefined)
    }
  })

  test('what is missing, short or long is no address', () => {
    for (const topic of [undefined, '', '0x', address, `0x${'0'.repeat(63)}`, `0x${'0'.repeat(65)}`]) {
      assert.equal(topicAddress(topic), undefined)
    }
    assert.equal(addressAt(new Uint8Array(31), 0), undefined)
  })
})
