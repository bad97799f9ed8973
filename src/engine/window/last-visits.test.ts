import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LastVisits } from './last-visits.ts'

const step = fc.record({
  isDeleted: fc.boolean(),
  subject: fc.nat(20),
  wallet: fc.nat(20),
  boughtAt: fc.integer({ min: 1, max: 9 }),
  soldAt: fc.nat(9),
})

test('last visits are those of a map, however they stand in memory', () => {
  const secret = fc.tuple(fc.integer(), fc.integer())
  fc.assert(
    fc.property(secret, fc.array(step, { maxLength: 400, size: 'max' }), (keys, steps) => {
      const visits = new LastVisits(keys)
      const known = new Map<string, { boughtAt: number; soldAt: number }>()
      for (const { isDeleted, subject, wallet, ...visit } of steps) {
        const id = `${subject}/${wallet}`
        if (isDeleted) assert.equal(visits.delete(subject, wallet), known.delete(id))
        else {
          assert.equal(visits.set(subject, wallet, visit), !known.has(id))
          known.set(id, visit)
        }
      }
      assert.equal(visits.size, known.size)
      for (let subject = 0; subject <= 20; subject++) {
        for (let wallet = 0; wallet <= 20; wallet++)
          assert.deepEqual(visits.get(subject, wallet), known.get(`${subject}/${wallet}`))
      }
    }),
  )
})
