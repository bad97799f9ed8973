import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type ChainPlace, formatCursor, parseCursor } from './cursor.ts'

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const last = fc
  .tuple(count, count, count, count, count)
  .map(([upTo, time, block, tx, log]) => ({ last: { upTo, time, key: { block, tx, log } } }))
const place: fc.Arbitrary<ChainPlace> = fc
  .tuple(fc.string(), count, count, count, count, count, fc.option(last, { nil: {} }))
  .map(([epoch, seq, link, version, time, told, more]) => {
    return { after: { epoch, seq, link }, version, time, told, ...more }
  })

test('a cursor is read as it was written, and needs no escaping', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), place)), (entries) => {
      const places = new Map(entries)
      const cursor = formatCursor(places)
      assert.match(cursor, /^[\w.-]+$/)
      assert.deepEqual(parseCursor(cursor), places)
    }),
  )
})

test('anything else is told apart, whatever it is', () => {
  const encoded = (value: unknown) => `c1.${Buffer.from(JSON.stringify(value)).toString('base64url')}`
  const row = ['eth', 'e', 1, 2, 3, 4, 5]
  assert.ok(parseCursor(encoded([row])) !== undefined)
  for (const value of [
    5,
    null,
    {},
    [5],
    [row.slice(0, 6)],
    [[...row, 1]],
    [['eth', 'e', -1, 2, 3, 4, 5]],
    [['eth', 'e', 1.5, 2, 3, 4, 5]],
    [['eth', 'e', '1', 2, 3, 4, 5]],
    [['eth', 7, 1, 2, 3, 4, 5]],
    [[null, 'e', 1, 2, 3, 4, 5]],
  ]) {
    assert.equal(parseCursor(encoded(value)), undefined, JSON.stringify(value))
  }
  fc.assert(fc.property(fc.string(), (text) => parseCursor(text) === undefined))
  for (const text of ['c1.', 'c1.%%%', 'c2.W10', 'W10']) assert.equal(parseCursor(text), undefined)
})
