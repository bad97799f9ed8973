import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownBytes } from './own-bytes.ts'

test('a message that is part of a larger buffer is copied, one with a buffer of its own is not', () => {
  const received = Uint8Array.from([1, 2, 3, 4, 5])
  assert.equal(ownBytes(received), received)
  for (const view of [received.subarray(1, 3), Buffer.from(received.buffer, 1, 2)]) {
    const own = ownBytes(view)
    assert.deepEqual([...own], [2, 3])
    assert.equal(own.buffer.byteLength, 2)
  }
})
