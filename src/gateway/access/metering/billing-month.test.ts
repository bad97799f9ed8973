import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { billingDay, billingMonth } from './billing-month.ts'

const DAY_SECONDS = 86_400

test('months and days are those of the calendar, in whatever order they are requested', () => {
  const time = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2027, 0) })
  const edge = fc
    .tuple(fc.integer({ min: 0, max: 36 }), fc.constantFrom(-1, 0, 1))
    .map(([month, ms]) => Date.UTC(2024, month) + ms)
  fc.assert(
    fc.property(fc.array(fc.oneof(time, edge), { minLength: 1 }), (times) => {
      for (const at of times) {
        const now = new Date(at)
        assert.equal(billingDay(at), now.toISOString().slice(0, 10))
        const { name, endsAt, seconds } = billingMonth(at)
        assert.equal(name, now.toISOString().slice(0, 7))
        assert.ok(at < endsAt * 1_000 && at >= (endsAt - seconds) * 1_000)
        // The first second of the next month is the next month's, and the month began on a first.
        assert.equal(new Date(endsAt * 1_000).getUTCDate(), 1)
        assert.equal(new Date((endsAt - seconds) * 1_000).toISOString().slice(0, 10), `${name}-01`)
        assert.ok(seconds >= 28 * DAY_SECONDS && seconds <= 31 * DAY_SECONDS)
      }
    }),
  )
})
