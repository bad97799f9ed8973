import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import { MessageReader } from './message-reader.ts'

const INVALID = { code: 'node_answer_invalid' }

describe('values that the library wrote', () => {
  test('numbers up to the largest that is exact', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, (1n << 64n) - 1n), (value) => {
        const reader = new MessageReader(new BinaryWriter().uint64(value).finish())
        if (value <= Number.MAX_SAFE_INTEGER) assert.equal(reader.number(), Number(value))
        else assert.throws(() => reader.number(), INVALID)
      }),
    )
  })

  test('amounts in decimal digits, up to 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 1n << 66n), (value) => {
        const reader = new MessageReader(new BinaryWriter().string(String(value)).finish())
        if (value < 1n << 64n) assert.equal(reader.amount(), value)
        else assert.throws(() => reader.amount(), INVALID)
      }),
    )
  })

  test('anything else is no amount', () => {
    for (const text of ['', '-1', '1.5', ' 1', '1e3', '0x1', '9'.repeat(21), '1234567890123456a']) {
      const reader = new MessageReader(new BinaryWriter().string(text).finish())
      assert.throws(() => reader.amount(), INVALID, text)
    }
  })

  test('fields of every type are skipped', () => {
    const writer = new BinaryWriter()
    writer.uint32(8).uint64(1n << 63n)
    writer.uint32(17).fixed64(7)
    writer.uint32(26).bytes(Uint8Array.of(1, 2, 3))
    writer.uint32(37).fixed32(7)
    writer.uint32(40).uint32(5)
    const reader = new MessageReader(writer.finish())
    let last: number | undefined
    while (reader.isBefore(reader.end)) {
      const tag = reader.number()
      if (tag === 40) last = reader.number()
      else reader.skip(tag)
    }
    assert.equal(last, 5)
  })
})

test('any bytes are read to their end or invalid', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const reader = new MessageReader(bytes)
      try {
        while (reader.isBefore(reader.end)) {
          const tag = reader.number()
          if (tag === 10)
            for (const end = reader.nested(); reader.isBefore(end); ) reader.skip(reader.number())
          else if (tag === 18) assert.ok(reader.bytes().length <= bytes.length)
          else reader.skip(tag)
        }
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'node_answer_invalid')
      }
    }),
    { numRuns: 5_000 },
  )
})
