import assert from 'node:assert/strict'
import { test } from 'node:test'
import { halfSipHash } from './sip-hash.ts'

test('equals the published vectors: bytes 0, 1, 2 … under the key 00 … 07', () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, at) => at)
  const words = new Uint32Array(bytes.buffer)
  const hashes = [0, 1, 2, 3].map((length) => halfSipHash(words, length, 0x03020100, 0x07060504))
  assert.deepEqual(hashes, [0x5814c896, 0x7e059ea6, 0x577999b1, 0x6b28096c])
})
