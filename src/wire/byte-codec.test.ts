import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  bytes as anyBytes,
  anyId,
  text as anyText,
  evmAddress,
  solanaAddress,
  solanaSignature,
  uint,
  uint256,
} from '../../test/support/arbitraries/value-arbitraries.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'

const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

type Step = { write: (w: ByteWriter) => void; read: (r: ByteReader) => unknown; value: unknown }

function step<T>(value: T, write: (w: ByteWriter, value: T) => void, read: (r: ByteReader) => unknown): Step {
  return { write: (w) => write(w, value), read, value }
}

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.nat(255).map((value) =>
    step(
      value,
      (w, v) => w.u8(v),
      (r) => r.u8(),
    ),
  ),
  fc.boolean().map((value) =>
    step(
      value,
      (w, v) => w.bool(v),
      (r) => r.bool(),
    ),
  ),
  fc.nat(0xffff_ffff).map((value) =>
    step(
      value,
      (w, v) => w.u32(v),
      (r) => r.u32(),
    ),
  ),
  uint.map((value) =>
    step(
      value,
      (w, v) => w.varuint(v),
      (r) => r.varuint(),
    ),
  ),
  uint256.map((value) =>
    step(
      value,
      (w, v) => w.biguint(v),
      (r) => r.biguint(),
    ),
  ),
  anyBytes.map((value) =>
    step(
      value,
      (w, v) => w.bytes(v),
      (r) => r.bytes(),
    ),
  ),
  anyBytes.map((value) =>
    step(
      value,
      (w, v) => w.raw(v),
      (r) => r.raw(value.length),
    ),
  ),
  anyText.map((value) =>
    step(
      value,
      (w, v) => w.text(v),
      (r) => r.text(),
    ),
  ),
  anyId.map((value) =>
    step(
      value,
      (w, v) => w.id(v),
      (r) => r.id(),
    ),
  ),
  fc.array(anyId, { maxLength: 5 }).map((value) =>
    step(
      value,
      (w, v) => w.list(v, (id) => w.id(id)),
      (r) => r.list(() => r.id()),
    ),
  ),
  fc.option(uint256, { nil: undefined }).map((value) =>
    step(
      value,
      (w, v) => w.optional(v, (b) => w.biguint(b)),
      (r) => r.optional(() => r.biguint()),
    ),
  ),
)

function written(write: (w: ByteWriter) => void): Uint8Array {
  const w = new ByteWriter()
  write(w)
  return w.finish()
}

function refused(code: string) {
  return (error: unknown) => error instanceof ChaintapeError && error.code === code
}

test('values written in any order are read back in that order, with nothing left', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), fc.nat(64), (steps, capacity) => {
      const w = new ByteWriter(capacity)
      for (const { write } of steps) write(w)
      assert.equal(w.length, w.finish().length)
      const r = new ByteReader(w.finish())
      assert.deepEqual(
        steps.map(({ read }) => read(r)),
        steps.map(({ value }) => value),
      )
      r.end()
    }),
    { numRuns: 300 },
  )
})

test('a reader reads its own part of a larger buffer', () => {
  fc.assert(
    fc.property(anyBytes, anyBytes, anyBytes, (before, content, after) => {
      const whole = Buffer.concat([before, written((w) => w.bytes(content)), after])
      const r = new ByteReader(whole.subarray(before.length, whole.length - after.length))
      assert.deepEqual(r.bytes(), content)
      r.end()
    }),
  )
})

test('finish returns a copy that later writes do not change', () => {
  const w = new ByteWriter(64)
  w.text('before')
  const first = w.finish()
  w.text('after')
  assert.deepEqual(new ByteReader(first).text(), 'before')
  assert.equal(first.length, 7)
  assert.equal(w.finish().length, 13)
})

test('ids of hex and of base58 shrink to their bytes, others stay text', () => {
  fc.assert(fc.property(evmAddress, (id) => assert.equal(written((w) => w.id(id)).length, 21)))
  fc.assert(fc.property(solanaAddress, (id) => assert.equal(written((w) => w.id(id)).length, 34)))
  fc.assert(
    fc.property(solanaSignature, (id) => assert.equal(written((w) => w.id(id)).length, 2 + id.length)),
  )
  assert.deepEqual(
    written((w) => w.id('0x00ff')),
    Buffer.of(4, 0, 255),
  )
  assert.deepEqual(
    written((w) => w.id('1'.repeat(33))),
    Buffer.of(67, ...Buffer.from('1'.repeat(33))),
  )
})

test('a recurring id reads like any id, however often it occurs and whatever comes in between', () => {
  // Few distinct last bytes, so that different ids share a cache slot.
  const similar = fc
    .tuple(fc.constantFrom('0x', '0xab', '', 'S'), fc.constantFrom('00', '40', '80', 'c0'), fc.boolean())
    .map(([start, end, isLong]) => `${start}${isLong ? '00'.repeat(40) : ''}${end}`)
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.oneof(similar, anyId), uint), { maxLength: 40 }), (pairs) => {
      const r = new ByteReader(
        written((w) => {
          for (const [id, number] of pairs) {
            if (number % 2 === 0) w.id(id)
            else w.recurringId(id)
            w.varuint(number)
          }
        }),
      )
      assert.deepEqual(
        pairs.map(() => [r.recurringId(), r.varuint()]),
        pairs,
      )
      r.end()
    }),
    { numRuns: 300 },
  )
})

test('an id is written as text straight from a message', () => {
  const ids = [
    '0x',
    `0x${'a0'.repeat(20)}`,
    `0x${'0f'.repeat(32)}`,
    `0x${'07'.repeat(90)}`,
    'So1111',
    'é',
    '1'.repeat(32),
    '1'.repeat(33),
    WRAPPED_SOL,
  ]
  for (const id of ids) {
    const message = new ByteWriter()
    message.u8(7)
    message.id(id)
    const [copied, written] = [new ByteWriter(1), new ByteWriter(1)]
    copied.sizedIdText(message.finish(), 1)
    written.sizedText(id)
    assert.deepEqual(copied.finish(), written.finish())
  }
})

test('a number takes the shortest encoding', () => {
  const sizes = [0, 127, 128, 16_383, 16_384, Number.MAX_SAFE_INTEGER].map(
    (value) => written((w) => w.varuint(value)).length,
  )
  assert.deepEqual(sizes, [1, 1, 2, 2, 3, 8])
  const bigSizes = [0n, 1n, 255n, 256n, 2n ** 256n - 1n].map(
    (value) => written((w) => w.biguint(value)).length,
  )
  assert.deepEqual(bigSizes, [1, 2, 2, 3, 33])
})

test('a number stored as limbs is written like any other', () => {
  const limbsOf = (value: bigint): Uint32Array =>
    Uint32Array.from({ length: 9 }, (_, nth) =>
      nth === 0 ? 7 : Number((value >> BigInt(32 * (nth - 1))) & 0xffff_ffffn),
    )
  fc.assert(
    fc.property(fc.oneof(uint256, fc.constantFrom(0n, 2n ** 32n, 2n ** 64n - 1n)), (value) => {
      assert.deepEqual(
        written((w) => w.limbs(limbsOf(value), 1)),
        written((w) => w.biguint(value)),
      )
    }),
  )
})

test('the writer refuses values that the reader could not return', () => {
  const w = new ByteWriter()
  for (const wrong of [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => w.varuint(wrong), RangeError)
  }
  for (const wrong of [-1, 256, 0.5, Number.NaN]) assert.throws(() => w.u8(wrong), RangeError)
  for (const wrong of [-1, 2 ** 32]) assert.throws(() => w.u32(wrong), RangeError)
  assert.throws(() => w.biguint(-1n), RangeError)
  for (const wrong of [2n ** 2040n, 2n ** 2048n - 1n, 2n ** 2048n, 2n ** 5000n]) {
    assert.throws(() => w.biguint(wrong), RangeError)
  }
  assert.equal(w.length, 0)
  w.biguint(2n ** 2040n - 1n)
  assert.equal(new ByteReader(w.finish()).biguint(), 2n ** 2040n - 1n)
})

test('a lone surrogate becomes the replacement character', () => {
  for (const broken of ['\ud800', 'a\udc00b', '\udc00\ud800']) {
    const r = new ByteReader(written((w) => [w.text(broken), w.id(broken)]))
    assert.deepEqual([r.text(), r.id()], [broken.toWellFormed(), broken.toWellFormed()])
  }
})

test('truncated bytes are refused', () => {
  fc.assert(
    fc.property(anyStep, fc.nat(), ({ write, read }, cut) => {
      const whole = written(write)
      if (whole.length === 0) return
      const short = whole.subarray(0, cut % whole.length)
      // The caller sets the length of raw bytes, and it may be zero.
      assert.throws(() => read(new ByteReader(short)), refused('message_unreadable'))
    }),
    { numRuns: 300 },
  )
})

test('trailing bytes are refused', () => {
  assert.throws(() => new ByteReader(Buffer.of(0)).end(), refused('message_unreadable'))
})

const readers: Record<string, (r: ByteReader) => unknown> = {
  u8: (r) => r.u8(),
  bool: (r) => r.bool(),
  u32: (r) => r.u32(),
  varuint: (r) => r.varuint(),
  biguint: (r) => r.biguint(),
  bytes: (r) => r.bytes(),
  text: (r) => r.text(),
  id: (r) => r.id(),
  recurringId: (r) => r.recurringId(),
  recurringIds: (r) => r.list(() => r.recurringId()),
  list: (r) => r.list(() => r.u8()),
  nested: (r) => r.list(() => r.list(() => r.text())),
  optional: (r) => r.optional(() => r.id()),
}

test('any bytes give a value or a coded error', () => {
  fc.assert(
    fc.property(anyBytes, fc.constantFrom(...Object.keys(readers)), (noise, name) => {
      try {
        readers[name]?.(new ByteReader(noise))
      } catch (error) {
        assert.ok(refused('message_unreadable')(error), String(error))
      }
    }),
    { numRuns: 2_000 },
  )
})

test('a length beyond the message is refused before any allocation', () => {
  for (const claimed of [100, 2 ** 31, 2 ** 32, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    const liar = written((w) => w.varuint(claimed))
    // Items that read nothing would never reach the end of the bytes.
    assert.throws(() => new ByteReader(liar).list(() => undefined), {
      code: 'message_unreadable',
      message: `list of ${claimed} items in 0 bytes`,
    })
    for (const name of ['bytes', 'text', 'id', 'list', 'nested']) {
      assert.throws(
        () => readers[name]?.(new ByteReader(liar)),
        refused('message_unreadable'),
        `${name} ${claimed}`,
      )
    }
  }
})

test('an integer without an end is refused', () => {
  for (const byte of [0x80, 0xff]) {
    const endless = Buffer.alloc(1_000_000, byte)
    assert.throws(() => new ByteReader(endless).varuint(), refused('message_unreadable'))
    endless[endless.length - 1] = 0
    assert.throws(() => new ByteReader(endless).varuint(), refused('message_unreadable'))
  }
})
