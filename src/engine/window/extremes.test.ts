import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Extremes, NO_EXTREMES, withoutMinutes, withPrices } from './extremes.ts'

const DAY = 20

test('the first peak is the highest price of the minutes that are left, the first trough the lowest', () => {
  const block = fc.record({ minutes: fc.nat(4), prices: fc.array(fc.bigInt(1n, 30n), { maxLength: 3 }) })
  fc.assert(
    fc.property(fc.array(block, { maxLength: 60 }), (blocks) => {
      let extremes: Extremes = NO_EXTREMES
      let minute = 1_000
      const seen: { minute: number; price: bigint }[] = []
      for (const { minutes, prices } of blocks) {
        minute += minutes
        extremes = withoutMinutes(extremes, minute - DAY)
        const sorted = prices.toSorted((a, b) => (a < b ? -1 : 1))
        const [low, high] = [sorted[0], sorted.at(-1)]
        if (low !== undefined && high !== undefined) extremes = withPrices(extremes, minute, high, low)
        for (const price of prices) seen.push({ minute, price })
        const left = seen.filter((each) => each.minute > minute - DAY).map(({ price }) => price)
        const expected = left.sort((a, b) => (a < b ? -1 : 1))
        assert.deepEqual([extremes.highs[0]?.price, extremes.lows[0]?.price], [expected.at(-1), expected[0]])
      }
    }),
  )
})

test('prices that rise and fall leave few peaks behind, and equal ones leave one', () => {
  let extremes = NO_EXTREMES
  for (let minute = 1; minute <= 100; minute++) extremes = withPrices(extremes, minute, 7n, 7n)
  assert.deepEqual(extremes, { highs: [{ minute: 100, price: 7n }], lows: [{ minute: 100, price: 7n }] })
})
