import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unpackWords } from './packed-words.ts'
import { WriteBatch } from './write-batch.ts'

const WORDS = 40

test('a batch gives every write as it was added, in the order of the first four bytes of the keys', () => {
  const write = fc.record({
    key: fc.uint8Array({ minLength: 4, maxLength: 40 }),
    words: fc.option(fc.uint32Array({ minLength: WORDS, maxLength: WORDS })),
  })
  fc.assert(
    fc.property(fc.array(write, { maxLength: 50, size: 'max' }), (writes) => {
      const batch = new WriteBatch()
      for (const { key, words } of writes) {
        if (words === null) batch.remove(key)
        else batch.put(key, words, 0, WORDS)
      }
      const given = Array.from(batch, ([key, value]) => {
        const words = new Uint32Array(WORDS)
        if (value !== undefined) unpackWords(value, words, 0, WORDS)
        return { key: Buffer.from(key).toString('hex'), words: value && [...words] }
      })
      const added = writes.map(({ key, words }) => ({
        key: Buffer.from(key).toString('hex'),
        words: words === null ? undefined : [...words],
      }))
      // Writes to the same key keep their order, because sorting is stable.
      added.sort((a, b) =>
        a.key.slice(0, 8) < b.key.slice(0, 8) ? -1 : Number(a.key.slice(0, 8) > b.key.slice(0, 8)),
      )
      assert.deepEqual(given, added)
    }),
  )
})
