import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, parseAbiParameters } from 'viem'
import {
  addressAt,
  callData,
  intAt,
  itemsAt,
  listAt,
  smallIntAt,
  smallUintAt,
  topicAddress,
  topicId,
  topicSmallInt,
  topicSmallUint,
  uintAt,
  wordAt,
} from './abi.ts'

const MAX_UINT256 = 2n ** 256n - 1n

function word(value: bigint): Buffer {
  return Buffer.from(BigInt.asUintN(256, value).toString(16).padStart(64, '0'), 'hex')
}

function topic(value: bigint): string {
  return `0x${word(value).toString('hex')}`
}

describe('uintAt', () => {
  test('reads a word of any size, at any place in its buffer', () => {
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

  test('a truncated word is not a number', () => {
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

  test('a word with nonzero upper bytes is not an address', () => {
    for (const upper of ['1'.padStart(24, '0'), '1'.padEnd(24, '0'), 'f'.repeat(24)]) {
      const dirty = `0x${upper}${address.slice(2)}`
      assert.equal(topicAddress(dirty), undefined)
      assert.equal(addressAt(Buffer.from(dirty.slice(2), 'hex'), 0), undefined)
    }
  })

  test('a missing, short or long topic is not an address', () => {
    for (const topic of [undefined, '', '0x', address, `0x${'0'.repeat(63)}`, `0x${'0'.repeat(65)}`]) {
      assert.equal(topicAddress(topic), undefined)
    }
    assert.equal(addressAt(new Uint8Array(31), 0), undefined)
  })
})

describe('numbers', () => {
  test('signed readers treat the highest bit as a sign', () => {
    const values = [0n, 1n, -1n, 2n ** 255n - 1n, -(2n ** 255n)]
    const data = Buffer.concat(values.map(word))
    assert.deepEqual(
      values.map((_, index) => intAt(data, index)),
      values,
    )
    assert.equal(uintAt(data, 2), MAX_UINT256)
    assert.equal(intAt(data, values.length), undefined)
  })

  test('small types are read as numbers, and larger values are refused', () => {
    for (const value of [0, 1, 887_272, 0x7fff_ffff]) {
      assert.equal(smallUintAt(word(BigInt(value)), 0), value)
      assert.equal(smallIntAt(word(BigInt(value)), 0), value)
      assert.equal(smallIntAt(word(-BigInt(value)), 0), value === 0 ? 0 : -value)
      assert.equal(topicSmallUint(topic(BigInt(value))), value)
      assert.equal(topicSmallInt(topic(-BigInt(value))), value === 0 ? 0 : -value)
    }
    assert.equal(smallUintAt(word(0xffff_ffffn), 0), 0xffff_ffff)
    for (const value of [2n ** 32n, 2n ** 255n, -1n]) assert.equal(smallUintAt(word(value), 0), undefined)
    for (const value of [2n ** 31n, 2n ** 255n, -(2n ** 31n) - 1n]) {
      assert.equal(smallIntAt(word(value), 0), undefined)
      assert.equal(topicSmallInt(topic(value)), undefined)
      assert.equal(topicSmallUint(topic(value)), undefined)
    }
    assert.equal(smallIntAt(word(-(2n ** 31n)), 0), -(2 ** 31))
    assert.equal(topicSmallInt(topic(-(2n ** 31n))), -(2 ** 31))
    assert.equal(topicSmallUint(topic(-1n)), undefined)
    assert.equal(topicSmallInt(`0x${'z'.repeat(64)}`), undefined)
    for (const missing of [undefined, '', '0x', '0x1']) assert.equal(topicSmallInt(missing), undefined)
    assert.equal(smallUintAt(undefined, 0), undefined)
    assert.equal(smallIntAt(new Uint8Array(31), 0), undefined)
  })

  test('any 32 bytes are an id', () => {
    const id = topic(MAX_UINT256)
    assert.equal(topicId(id), id)
    assert.equal(wordAt(word(MAX_UINT256), 0), id)
    assert.equal(topicId(id.slice(0, -1)), undefined)
    assert.equal(topicId(undefined), undefined)
    assert.equal(wordAt(new Uint8Array(63), 1), undefined)
  })
})

describe('lists', () => {
  const two = Buffer.from(
    encodeAbiParameters(parseAbiParameters('uint256[], uint256, int256[]'), [[1n, 2n, 3n], 9n, [-1n]]).slice(
      2,
    ),
    'hex',
  )

  function patched(index: number, value: bigint): Buffer {
    const data = Buffer.from(two)
    word(value).copy(data, index * 32)
    return data
  }

  test('are read at their offset', () => {
    assert.deepEqual(listAt(two, 0, uintAt), [1n, 2n, 3n])
    assert.deepEqual(listAt(two, 2, intAt), [-1n])
    assert.deepEqual(itemsAt(two, 4, 2, uintAt), [1n, 2n])
    assert.deepEqual(listAt(patched(3, 0n), 0, uintAt), [])
  })

  test('with items of several words are read by their first word', () => {
    const pairs = parseAbiParameters(['(uint256 a, uint256 b)[] pairs'])
    const value = [
      { a: 1n, b: 2n },
      { a: 3n, b: 4n },
    ]
    const data = Buffer.from(encodeAbiParameters(pairs, [value]).slice(2), 'hex')
    assert.deepEqual(listAt(data, 0, uintAt, 2), [1n, 3n])
    assert.equal(listAt(data.subarray(0, -64), 0, uintAt, 2), undefined)
  })

  test('outside the data, misaligned or without an end are refused', () => {
    for (const offset of [1n, 33n, 32n * 100n, 2n ** 32n, MAX_UINT256]) {
      assert.equal(listAt(patched(0, offset), 0, uintAt), undefined)
    }
    for (const length of [6n, 65n, 2n ** 31n, MAX_UINT256]) {
      assert.equal(listAt(patched(3, length), 0, uintAt), undefined)
    }
    assert.equal(listAt(undefined, 0, uintAt), undefined)
    assert.equal(listAt(patched(4, MAX_UINT256), 0, addressAt), undefined)
    assert.equal(itemsAt(two, 8, 2, uintAt), undefined)
  })
})

describe('call data', () => {
  test('is a selector followed by the arguments in words', () => {
    const abi = parseAbi(['function ask(address a, uint24 b, int24 c, bytes32 d)'])
    const address = '0x5c72ecd763be11e8e202490bac14b12402e77716'
    const id = topic(MAX_UINT256 - 5n) as Hex
    const expected = encodeFunctionData({ abi, args: [address, 3000, -60, id] })
    assert.equal(callData(expected.slice(0, 10), address, 3000n, -60, id), expected)
    assert.equal(callData('0x0dfe1681'), '0x0dfe1681')
  })
})
