import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecentlyUsed } from './recently-used.ts'

test('what was used last is there, and never more than two generations', () => {
  const uses = fc.array(fc.record({ id: fc.nat(30), isRead: fc.boolean() }), { maxLength: 200 })
  fc.assert(
    fc.property(uses, fc.integer({ min: 1, max: 8 }), (steps, size) => {
      const kept = new RecentlyUsed<number>(size)
      let used: number[] = []
      for (const { id, isRead } of steps) {
        const found = kept.get(String(id))
        if (used.slice(-size).includes(id)) assert.equal(found, id)
        if (found === undefined && isRead) continue
        if (found === undefined) kept.set(String(id), id)
        used = [...used.filter((other) => other !== id), id]
        kept.letGo()
      }
      const all = Array.from({ length: 31 }, (_, id) => kept.get(String(id)))
      assert.ok(all.filter((item) => item !== undefined).length <= 2 * size)
    }),
  )
})

test('what is deleted is gone from both generations', () => {
  const kept = new RecentlyUsed<string>(1)
  for (const id of ['a', 'b']) {
    kept.set(id, id)
    kept.letGo()
  }
  kept.delete('b')
  assert.equal(kept.get('b'), undefined)
  kept.set('c', 'c')
  kept.clear()
  assert.equal(kept.get('c'), undefined)
})
