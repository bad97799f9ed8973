import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  anyId,
  evmAddress,
  evmHash,
  solanaAddress,
} from '../../test/support/arbitraries/value-arbitraries.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import { fitsId, ID_WORDS, readId, usedIdWords, writeId } from './id-words.ts'
import { Key } from './key.ts'
import { decodeStateKey, encodeStateKey } from './state-key.ts'

function wordsOf(id: string): Uint32Array {
  // Behind a word of something else, and over the words of another id.
  const words = new Uint32Array(1 + ID_WORDS).fill(0xffff_ffff)
  writeId(words, 1, id)
  return words
}

test('an id that fits is itself again', () => {
  fc.assert(
    fc.property(anyId, (id) => {
      if (!fitsId(id)) assert.throws(() => wordsOf(id), RangeError)
      else assert.equal(readId(wordsOf(id), 1), id.toWellFormed())
    }),
    { numRuns: 2_000 },
  )
})

test('addresses and hashes of both families fit', () => {
  fc.assert(fc.property(fc.oneof(evmAddress, evmHash, solanaAddress), (id) => assert.ok(fitsId(id))))
  assert.equal(usedIdWords(wordsOf('So11111111111111111111111111111111111111112'), 1), ID_WORDS)
  assert.equal(usedIdWords(wordsOf(`0x${'ab'.repeat(20)}`), 1), 6)
})

test('two ids never have the same words', () => {
  const similar = fc.oneof(
    anyId.filter(fitsId),
    fc.constantFrom('0x00', '0x\u0130\u0130', `0x${'00'.repeat(32)}`, '1'.repeat(32), '\0'.repeat(32)),
  )
  fc.assert(
    fc.property(similar, similar, (one, other) => {
      assert.equal(Buffer.compare(asBytes(wordsOf(one)), asBytes(wordsOf(other))) === 0, one === other)
    }),
    { numRuns: 1_000 },
  )
})

test('hex ids keep the words they always had', () => {
  assert.deepEqual([...wordsOf('0x01020304ff')].slice(1), [10, 0x04030201, 0xff, 0, 0, 0, 0, 0, 0])
  assert.deepEqual([...wordsOf('abc')].slice(1), [7, 0x636261, 0, 0, 0, 0, 0, 0, 0])
})

test('the key of a row has the encoding of its text, and the case of its letters', () => {
  const key = new Key()
  fc.assert(
    fc.property(fc.oneof(solanaAddress, evmAddress), fc.oneof(solanaAddress, evmHash), (token, wallet) => {
      const bytes = key.clear().id(token).id(wallet).storeKey('balance', ['id', 'id'])
      assert.deepEqual(Buffer.from(bytes), Buffer.from(encodeStateKey(`balance/${token}/${wallet}`)))
      assert.equal(decodeStateKey(bytes), `balance/${token}/${wallet}`)
      assert.equal(key.text(['id', 'id']), `${token}/${wallet}`)
    }),
  )
})

test('an id in words is written like its text, and skipped like any other', () => {
  const words = new Uint32Array(ID_WORDS)
  fc.assert(
    fc.property(
      fc.oneof(evmAddress, evmHash, solanaAddress, fc.constantFrom('So1111', '1'.repeat(32))),
      (id) => {
        writeId(words, 0, id)
        const bytes = written((w) => w.idWords(words, 0))
        assert.deepEqual(
          bytes,
          written((w) => w.id(id)),
        )
        const r = new ByteReader(bytes)
        r.skipId()
        r.end()
      },
    ),
  )
})

function written(write: (w: ByteWriter) => void): Uint8Array {
  const w = new ByteWriter()
  write(w)
  return w.finish()
}

function asBytes(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength)
}
