import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecentlyUsed } from './recently-used.ts'

test('the last used items are retained, and at most two generations', () => {
  const uses = fc.array(fc.record({ id: fc.nat(30), isRead: fc.boolean() }), { maxLength: 200 })
  fc.assert(
    fc.property(uses, fc.integer({ min: 1, max: 8 }), (steps, size) => {
      const recent = new RecentlyUsed<number>(size)
      let used: number[] = []
      for (const { id, isRead } of steps) {
        const found = recent.get(String(id))
        if (used.slice(-size).includes(id)) assert.equal(found, id)
        if (found === undefined && isRead) continue
        if (found === undefined) recent.set(String(id), id)
        used = [...used.filter((other) => other !== id), id]
        recent.evict()
      }
      const all = Array.from({ length: 31 }, (_, id) => recent.get(String(id)))
      assert.ok(all.filter((item) => item !== undefined).length <= 2 * size)
    }),
  )
})

test('a deleted item is removed from both generations', () => {
  const recent = new RecentlyUsed<string>(1)
  for (const id of ['a', 'b']) {
    recent.set(id, id)
    recent.evict()
  }
  recent.delete('b')
  assert.equal(recent.get('b'), undefined)
  recent.set('c', 'c')
  recent.clear()
  assert.equal(recent.get('c'), undefined)
})
