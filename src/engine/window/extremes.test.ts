import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NOTHING_COMMITTED } from '../../../test/support/rigs/memory-state.ts'
import { DAY_MINUTES } from '../../domain/window.ts'
import { scratchRow } from '../../state/cursor.ts'
import { JournaledState } from '../../state/journaled-state.ts'
import { Extremes } from './extremes.ts'
import { HIGH, LOW } from './subject-row.ts'
import { ENTERING } from './sums.ts'
import { openWindowTables } from './tables.ts'

test('the highest and the lowest price are those of the minutes that are left', () => {
  const block = fc.record({
    minutes: fc.constantFrom(0, 0, 1, 7, 400, DAY_MINUTES - 1, DAY_MINUTES),
    prices: fc.array(fc.bigInt(1n, 30n), { maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(block, { maxLength: 40 }), (blocks) => {
      const { subjects, minutes } = openWindowTables(new JournaledState(NOTHING_COMMITTED))
      const extremes = new Extremes(minutes)
      const number = subjects.create({ pair: '0x01', token: undefined })
      const subjectSlot = subjects.slotOf(number)
      const entering = scratchRow(ENTERING)
      const at = (minute: number) => {
        return { subject: number, subjectSlot, minute, slot: minutes.slotOf(number, minute) }
      }
      let now = 1_000_000
      const seen: { minute: number; price: bigint }[] = []
      const traded: number[] = []
      for (const { minutes: passed, prices } of blocks) {
        now += passed
        const subject = subjects.edit(subjectSlot)
        while ((traded[0] ?? now) <= now - DAY_MINUTES) {
          const gone = traded.shift() as number
          extremes.leave(at(gone), subject)
          minutes.remove(at(gone).slot)
        }
        if (traded.at(-1) !== now) {
          minutes.create(number, now)
          traded.push(now)
        }
        const sorted = prices.toSorted((a, b) => (a < b ? -1 : 1))
        const [low, high] = [sorted[0], sorted.at(-1)]
        entering.extremes.at(HIGH).usd = high
        entering.extremes.at(LOW).usd = low
        if (prices.length > 0) extremes.enter(at(now), subject, entering)
        for (const price of prices) seen.push({ minute: now, price })
        const left = seen.filter(({ minute }) => minute > now - DAY_MINUTES).map(({ price }) => price)
        const expected = left.sort((a, b) => (a < b ? -1 : 1))
        assert.deepEqual(
          [subject.extremes.at(HIGH).usd, subject.extremes.at(LOW).usd],
          [expected.at(-1), expected[0]],
        )
      }
    }),
  )
})
