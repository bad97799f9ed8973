import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NOTHING_COMMITTED } from '../../../test/support/rigs/memory-state.ts'
import { MAX_AMOUNT, MAX_FIXED } from '../../domain/limits.ts'
import { JournaledState } from '../../state/journaled-state.ts'
import { writeBigint } from '../../state/limbs.ts'
import { Memory } from '../../state/memory.ts'
import { ByteReader } from '../../wire/byte-reader.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { readWindows } from '../../wire/windows-codec.ts'
import { published, writePublished } from './published.ts'
import { addSum, subtractSum } from './sums.ts'
import { openWindowTables } from './tables.ts'

const SUM_LIMBS = 10
const MOST_TRADES = 2n ** 33n

function limbsOf(value: bigint): Uint32Array {
  const memory = new Memory(SUM_LIMBS)
  writeBigint(memory, 0, value, SUM_LIMBS)
  return memory.words
}

test('what leaves a sum is what came, up to as many of the largest as there can be', () => {
  const value = fc.bigInt(0n, MAX_AMOUNT * MOST_TRADES)
  fc.assert(
    fc.property(value, value, (a, b) => {
      const sum = limbsOf(a)
      addSum(sum, 0, limbsOf(b), 0)
      assert.deepEqual(sum, limbsOf(a + b))
      subtractSum(sum, 0, limbsOf(a), 0)
      assert.deepEqual(sum, limbsOf(b))
    }),
  )
})

test('a sum never wraps around', () => {
  const most = limbsOf(2n ** 320n - 1n)
  assert.throws(() => addSum(most, 0, limbsOf(1n), 0), /beyond 320 bits/)
  assert.throws(() => subtractSum(limbsOf(1n), 0, limbsOf(2n), 0), /more left than came/)
})

test('sums that do not fit their type are unknown', () => {
  const { subjects } = openWindowTables(new JournaledState(NOTHING_COMMITTED))
  const subject = subjects.edit(subjects.create({ pair: '0x01', token: 'Vote111' }))
  for (const over of [0n, 1n]) {
    const window = subject.windows.at(5)
    window.buys = 1
    window.sells = 1
    window.buyUsd = MAX_FIXED + over
    window.sellUsd = MAX_FIXED + 1n - over
    subject.amountRaw = MAX_AMOUNT + over
    const isFitting = over === 0n
    const w = new ByteWriter()
    writePublished(w, subject)
    for (const windows of [published(subject), readWindows(new ByteReader(w.finish()))]) {
      const { buyUsd, sellUsd } = windows.lengths[5] ?? {}
      const [buy, sell] = isFitting ? [MAX_FIXED, undefined] : [undefined, MAX_FIXED]
      assert.deepEqual([windows.pair, windows.token], ['0x01', 'Vote111'])
      assert.deepEqual([buyUsd, sellUsd], [buy, sell])
      assert.equal(windows.amountRaw, isFitting ? MAX_AMOUNT : undefined)
    }
  }
})
