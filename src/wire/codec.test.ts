import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import {
  bool,
  type Codec,
  checked,
  list,
  optional,
  record,
  signed,
  text,
  union,
  varuint,
  word,
} from './codec.ts'

type Shape =
  | { readonly kind: 'circle'; readonly radius: number }
  | { readonly kind: 'named'; readonly name: string; readonly isOld: boolean }

const shape = union<Shape, 'kind'>(
  'kind',
  { circle: [1, record({ radius: varuint })], named: [7, record({ name: text, isOld: bool })] },
  'shape',
)

function encode<T>(codec: Codec<T>, value: T): number[] {
  const w = new ByteWriter()
  codec.write(w, value)
  return [...w.finish()]
}

function decode<T>(codec: Codec<T>, bytes: readonly number[]): T {
  const r = new ByteReader(Uint8Array.from(bytes))
  const value = codec.read(r)
  r.end()
  return value
}

test('a record has its fields in the order of their declaration, whatever the order in the object', () => {
  const codec = record<{ a: number; b: string; c: number | undefined }>({
    b: text,
    a: varuint,
    c: optional(varuint),
  })
  const bytes = [1, 0x78, 5, 1, 9]
  assert.deepEqual(encode(codec, { a: 5, b: 'x', c: 9 }), bytes)
  assert.deepEqual(decode(codec, bytes), { b: 'x', a: 5, c: 9 })
  assert.deepEqual(encode(codec, { a: 5, b: '', c: undefined }), [0, 5, 0])
})

test('a union has the code of its variant first, and refuses unknown codes', () => {
  for (const value of [
    { kind: 'circle', radius: 3 },
    { kind: 'named', name: 'n', isOld: true },
  ] as const) {
    assert.deepEqual(decode(shape, encode(shape, value)), value)
  }
  assert.deepEqual(encode(shape, { kind: 'named', name: '', isOld: false }), [7, 0, 0])
  assert.throws(() => decode(shape, [2]), { code: 'message_unreadable', message: 'unknown shape 2' })
})

test('a word is its index, and refuses others on both sides', () => {
  const codec = word(['no', 'yes'])
  assert.deepEqual(encode(codec, 'yes'), [1])
  assert.throws(() => encode(codec, 'maybe' as 'yes'), RangeError)
  assert.throws(() => decode(codec, [2]), { code: 'message_unreadable', message: 'unknown word 2' })
})

test('a checked value is refused on both sides', () => {
  const codec = checked(list(varuint), ({ length }) => length <= 2, 'too many')
  assert.deepEqual(decode(codec, encode(codec, [8, 9])), [8, 9])
  assert.throws(() => encode(codec, [1, 2, 3]), { name: 'RangeError', message: 'too many' })
  assert.throws(() => decode(codec, [3, 1, 2, 3]), { code: 'message_unreadable', message: 'too many' })
})

test('signed amounts survive a round trip', () => {
  for (const amount of [0n, 1n, -1n, 2n ** 255n, -(2n ** 255n)])
    assert.equal(decode(signed, encode(signed, amount)), amount)
})
