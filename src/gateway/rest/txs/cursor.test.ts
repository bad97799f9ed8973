import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { RequestError } from '../../http/problem.ts'
import { formatCursor, parseCursor } from './cursor.ts'

test('a cursor gives back the place it was made of', () => {
  const index = fc.integer({ min: 0, max: 999_999 })
  const place = fc
    .tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.maxSafeNat(), index, index)
    .map(([time, block, tx, log]) => ({ time, key: { block, tx, log } }))
  fc.assert(fc.property(place, (each) => assert.deepEqual(parseCursor(formatCursor(each)), each)))
})

test('anything else is refused, and so is a time that no store could hold', () => {
  const refused = (cursor: string): void =>
    assert.throws(
      () => parseCursor(cursor),
      (error: unknown) => error instanceof RequestError && error.code === 'malformed_request',
      cursor,
    )
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), refused))
  for (const text of [
    '',
    '.',
    '5.',
    '.314000001000008',
    '99999999999.314000001000008',
    '9999999999.314000001000008',
  ]) {
    refused(Buffer.from(text).toString('base64url'))
  }
  const good = formatCursor({ time: 1, key: { block: 2, tx: 3, log: 4 } })
  for (const cursor of [`${good}=`, ` ${good}`, `${good}.x`, good.slice(1)]) refused(cursor)
})
