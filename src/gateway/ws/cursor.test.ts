import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type ChainPlace, formatCursor, parseCursor } from './cursor.ts'

const half = fc.nat({ max: 2 ** 52 })
const positive = half.map((value) => value + 1)
const u32 = fc.nat({ max: 2 ** 32 - 1 })
const index = fc.nat({ max: 999_999 })
const last = fc.option(fc.tuple(half, u32, half, index, index), { nil: undefined })
const place: fc.Arbitrary<ChainPlace> = fc
  .tuple(fc.string({ maxLength: 64 }), positive, u32, positive, u32, u32, last)
  .map(([epoch, sequence, link, seq, time, published, more]) => {
    const at = { after: { epoch, sequence, link }, seq, time, published }
    if (more === undefined) return at
    const [later, eventTime, block, tx, log] = more
    return { ...at, last: { upTo: seq + later, time: eventTime, key: { block, tx, log } } }
  })

test('a cursor is read as it was written, and needs no escaping', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), place), { maxLength: 20 }), (entries) => {
      const places = new Map(entries)
      const cursor = formatCursor(places)
      assert.match(cursor, /^[\w.-]+$/)
      assert.deepEqual(parseCursor(cursor), places)
    }),
  )
})

test('anything else is rejected', () => {
  const encoded = (value: unknown) => `c1.${Buffer.from(JSON.stringify(value)).toString('base64url')}`
  const row = ['eth', 'e', 1, 2, 3, 4, 5]
  assert.ok(parseCursor(encoded([row])) !== undefined)
  assert.ok(parseCursor(encoded([['eth', 'e', 0, 0, 0, 0, 5]])) !== undefined)
  assert.ok(parseCursor(encoded([[...row, 3, 5, 5, 5, 5]])) !== undefined)
  assert.equal(parseCursor(encoded([['x'.repeat(20_000), ...row.slice(1)]])), undefined)
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
    [row, row],
    [['eth', 'e'.repeat(65), 1, 2, 3, 4, 5]],
    [['eth', 'e', 1, 2 ** 32, 3, 4, 5]],
    [['eth', 'e', 1, 2, 3, 2 ** 32, 5]],
    [['eth', 'e', 1, 2, 3, 4, 2 ** 32]],
    // No message is without a `seq`, and nothing comes before the first one.
    [['eth', 'e', 1, 2, 0, 4, 5]],
    [['eth', 'e', 0, 2, 0, 0, 0]],
    [['eth', 'e', 0, 0, 3, 0, 0]],
    [['eth', 'e', 0, 0, 0, 4, 0]],
    // An event of a change set that the place already includes.
    [[...row, 2, 5, 5, 5, 5]],
    [[...row, 3, 2 ** 32, 5, 5, 5]],
    [[...row, 3, 5, 5, 1_000_000, 5]],
    [[...row, 3, 5, 5, 5, 1_000_000]],
  ]) {
    assert.equal(parseCursor(encoded(value)), undefined, JSON.stringify(value))
  }
  fc.assert(fc.property(fc.string(), (text) => parseCursor(text) === undefined))
  for (const text of ['c1.', 'c1.%%%', 'c2.W10', 'W10']) assert.equal(parseCursor(text), undefined)
})
