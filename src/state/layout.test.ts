import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Cursor, cursorMaker } from './cursor.ts'
import {
  bytes,
  type Fields,
  flag,
  i32,
  id,
  type Layout,
  layout,
  optional,
  repeated,
  u32,
  u256,
  u320,
  volatile,
} from './layout.ts'
import { Memory } from './memory.ts'

const CANDLE = { start: optional(u32), open: optional(u256), volume: u320, isOpen: flag }
const PAIR = layout({
  isMain: flag,
  updatedAt: u32,
  tick: optional(i32),
  slotHint: volatile,
  reserve: u256,
  price: optional(u256),
  token: id,
  quote: optional(id),
  symbol: bytes(10),
  candles: repeated(3, CANDLE),
})

const ROWS = 3
function cursorOf<F extends Fields>(of: Layout<F>, memory = new Memory(ROWS * of.stride)): Cursor<F> {
  return cursorMaker(of)(memory, () => undefined)
}

const u32s = fc.oneof(fc.constantFrom(0, 2 ** 31, 2 ** 32 - 1), fc.nat(2 ** 31 - 1))
const i32s = fc.oneof(fc.constantFrom(-(2 ** 31), -1, 2 ** 31 - 1), fc.integer())
const u256s = fc.oneof(fc.constantFrom(0n, 2n ** 256n - 1n), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }))
const u320s = fc.oneof(u256s, fc.constant(2n ** 320n - 1n))
const hexIds = fc
  .uint8Array({ minLength: 1, maxLength: 32 })
  .map((value) => `0x${Buffer.from(value).toString('hex')}`)
const ids = fc.oneof(hexIds, fc.constantFrom('', '0x', 'p', 'Ünï', '0xABCD', '0xabc', 'x'.repeat(32)))
const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined })

const plain = { noNullPrototype: true }
const candle = fc.record(
  { start: maybe(u32s), open: maybe(u256s), volume: u320s, isOpen: fc.boolean() },
  plain,
)
const pair = fc.record(
  {
    isMain: fc.boolean(),
    updatedAt: u32s,
    tick: maybe(i32s),
    slotHint: u32s,
    reserve: u256s,
    price: maybe(u256s),
    token: ids,
    quote: maybe(ids),
    symbol: fc.uint8Array({ maxLength: 10 }).map((all): Uint8Array => all),
    candles: fc.array(candle, { minLength: 3, maxLength: 3 }),
  },
  plain,
)
type PairValues = typeof pair extends fc.Arbitrary<infer T> ? T : never

function write(cursor: Cursor<(typeof PAIR)['fields']>, slot: number, values: PairValues): void {
  const { candles, ...others } = values
  const row = cursor.edit(slot)
  Object.assign(row, others)
  for (const [index, each] of candles.entries()) Object.assign(row.candles.at(index), each)
}

function read(cursor: Cursor<(typeof PAIR)['fields']>, slot: number): PairValues {
  const row = cursor.at(slot)
  const { isMain, updatedAt, tick, slotHint, reserve, price, token, quote, symbol } = row
  const candles = [0, 1, 2].map((index) => {
    const { start, open, volume, isOpen } = row.candles.at(index)
    return { start, open, volume, isOpen }
  })
  return { isMain, updatedAt, tick, slotHint, reserve, price, token, quote, symbol, candles }
}

test('every field is read as it was written, and no field or row touches another', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(ROWS - 1), pair), { maxLength: 6 }), (writes) => {
      const cursor = cursorOf(PAIR)
      const expected = new Map<number, PairValues>()
      for (const [slot, values] of writes) {
        write(cursor, slot, values)
        expected.set(slot, values)
        for (const [known, wanted] of expected) assert.deepEqual(read(cursor, known), wanted)
      }
    }),
  )
})

test('equal values are equal words, whatever was there before', () => {
  fc.assert(
    fc.property(pair, pair, (before, after) => {
      const [overwritten, fresh] = [new Memory(PAIR.stride), new Memory(PAIR.stride)]
      const cursor = cursorOf(PAIR, overwritten)
      write(cursor, 0, before)
      write(cursor, 0, after)
      write(cursorOf(PAIR, fresh), 0, after)
      assert.deepEqual(overwritten.words, fresh.words)
    }),
  )
})

test('a field that becomes absent leaves nothing behind', () => {
  const memory = new Memory(PAIR.stride)
  const row = cursorOf(PAIR, memory).edit(0)
  row.price = 7n
  row.quote = '0xabcd'
  assert.ok(row.hasPrice && row.hasQuote && !row.hasTick)
  row.hasPrice = false
  row.quote = undefined
  assert.deepEqual([row.price, row.hasQuote], [undefined, false])
  assert.ok(memory.words.every((word) => word === 0))
  row.hasPrice = true
  assert.equal(row.price, 0n)
})

test('positions name the words of a field', () => {
  const cursor = cursorOf(PAIR)
  const row = cursor.edit(1)
  row.words[row.reserveAt] = 5
  row.words[row.candles.at(2).volumeAt + 9] = 1
  assert.equal(row.reserve, 5n)
  assert.equal(row.candles.at(2).volume, 2n ** 288n)
  assert.equal(row.candles.at(1).volume, 0n)
})

test('volatile words come last, and limbs stand on even words', () => {
  assert.equal(PAIR.storedWords, PAIR.placed.find(({ name }) => name === 'slotHint')?.at)
  for (const { field, at } of PAIR.placed) if (field.kind === 'uint') assert.equal(at % 2, 0)
  assert.equal(PAIR.stride % 2, 0)
  assert.equal(layout({ isOne: flag }).storedWords, 1)
})

test('more than 32 bits', () => {
  const names = Array.from({ length: 70 }, (_, at) => `is${at}`)
  const many = layout(Object.fromEntries(names.map((name) => [name, flag])))
  const row = cursorOf(many).edit(0) as unknown as Record<string, boolean>
  for (const name of names) {
    row[name] = true
    assert.deepEqual(
      names.filter((each) => row[each]),
      [name],
    )
    row[name] = false
  }
})

test('a value that its kind cannot hold is refused', () => {
  const row = cursorOf(PAIR).edit(0)
  for (const value of [-1, 2 ** 32, 0.5, Number.NaN]) {
    assert.throws(() => {
      row.updatedAt = value
    }, RangeError)
  }
  const refused: [string, unknown][] = [
    ['tick', 2 ** 31],
    ['reserve', 2n ** 256n],
    ['reserve', -1n],
    ['symbol', new Uint8Array(11)],
    ['token', `0x${'ab'.repeat(33)}`],
    ['token', 'x'.repeat(33)],
  ]
  for (const [name, value] of refused) assert.throws(() => Object.assign(row, { [name]: value }), RangeError)
  assert.throws(() => row.candles.at(3), RangeError)
})
