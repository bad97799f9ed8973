import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryState } from '../../test/support/rigs/memory-state.ts'
import { JournaledState } from './journaled-state.ts'
import { Key } from './key.ts'
import { flag, layout, u256, volatile } from './layout.ts'
import { NONE } from './slot-index.ts'
import { stateKeyText } from './state-key.ts'

const BALANCE = layout({ isNegative: flag, amount: u256, hint: volatile })
const BALANCE_KEY = (at: number): Key => new Key().id('0xaa').id(`0x${at.toString(16).padStart(40, '0')}`)

function filled(count: number) {
  const store = new MemoryState()
  const state = new JournaledState(store)
  const rows = state.rows('balance', BALANCE, { key: ['id', 'id'], maxRows: 100 })
  const cursor = rows.cursor()
  for (let at = 0; at < count; at++) cursor.edit(rows.create(BALANCE_KEY(at))).amount = BigInt(at)
  const commit = (): void => {
    store.write(state.pending())
    state.committed()
  }
  return { store, state, rows, cursor, commit }
}

test('a block may create more rows than fit in memory; all are readable before and after eviction', () => {
  const { store, state, rows, cursor, commit } = filled(5_000)
  state.sealBlock(1)
  const check = (): void => {
    for (let at = 0; at < 5_000; at++) assert.equal(cursor.at(rows.find(BALANCE_KEY(at))).amount, BigInt(at))
  }
  check()
  assert.equal(rows.size, 5_000)
  commit()
  assert.equal(rows.size, 100)
  assert.ok(rows.hasEvicted)
  check()
  commit()
  assert.equal(rows.size, 100)
  state.undoBlocks(1, 1)
  commit()
  assert.deepEqual(store.entries(), [])
})

test('slots stay valid after a commit that evicts nothing', () => {
  const { state, rows, cursor, commit } = filled(100)
  const slots = Array.from({ length: 100 }, (_, at) => rows.find(BALANCE_KEY(at)))
  state.sealBlock(1)
  commit()
  assert.ok(!rows.hasEvicted)
  assert.deepEqual(
    slots.map((slot) => cursor.at(slot).amount),
    Array.from({ length: 100 }, (_, at) => BigInt(at)),
  )
})

test('eviction spares rows in use and removes idle ones', () => {
  const { state, rows, commit } = filled(150)
  state.sealBlock(1)
  commit()
  const slots = Array.from({ length: 50 }, (_, at) => rows.find(BALANCE_KEY(at)))
  commit()
  for (let round = 0; round < 5; round++) {
    for (let at = 0; at < 50; at++) assert.equal(rows.find(BALANCE_KEY(at)), slots[at])
    for (let at = 0; at < 20; at++) rows.find(BALANCE_KEY(1000 + round * 20 + at))
    commit()
  }
})

test('a cached slot is valid only for its own key', () => {
  const { state, rows } = filled(2)
  const slot = rows.find(BALANCE_KEY(1))
  assert.ok(rows.isAt(slot, BALANCE_KEY(1)))
  assert.ok(!rows.isAt(slot, BALANCE_KEY(0)))
  assert.ok(!rows.isAt(slot + 1, BALANCE_KEY(1)))
  rows.remove(slot)
  assert.ok(!rows.isAt(slot, BALANCE_KEY(1)))
  state.abandon()
  assert.ok(!rows.isAt(0, BALANCE_KEY(0)))
})

test('volatile fields are neither committed nor journaled', () => {
  const { store, state, rows, cursor, commit } = filled(1)
  cursor.edit(rows.find(BALANCE_KEY(0))).hint = 5
  state.sealBlock(1)
  commit()
  assert.ok(store.entries().some(([key]) => key.startsWith('balance/')))
  state.abandon()
  assert.equal(cursor.at(rows.find(BALANCE_KEY(0))).hint, 0)
})

test('an undo reports the fields of a row before and after it', () => {
  const { state, rows, cursor, commit } = filled(2)
  state.sealBlock(1)
  commit()
  const [first, second] = [rows.find(BALANCE_KEY(0)), rows.find(BALANCE_KEY(1))]
  cursor.edit(first).amount = 77n
  rows.remove(second)
  // Touched, but not changed.
  rows.touch(second)
  state.sealBlock(2)
  const restored = state.undoBlocks(2, 2)
  assert.deepEqual(
    restored.map(({ table, id }) => [table, id]),
    [0, 1].map((at) => ['balance', `0xaa/0x${at.toString(16).padStart(40, '0')}`]),
  )
  const amounts = restored.map(({ last, restored: now }) =>
    [last, now].map((bytes) => (bytes === undefined ? undefined : rows.view(bytes).amount)),
  )
  assert.deepEqual(amounts, [
    [77n, 0n],
    [undefined, 1n],
  ])
})

test('a row that was written without a change is neither committed nor journaled', () => {
  const { store, state, rows, cursor, commit } = filled(3)
  state.sealBlock(1)
  state.forgetBlocks(1, 1)
  commit()
  const slot = rows.find(BALANCE_KEY(1))
  cursor.edit(slot).amount = 9n
  cursor.edit(slot).amount = 1n
  rows.remove(rows.find(BALANCE_KEY(2)))
  cursor.edit(rows.create(BALANCE_KEY(2))).amount = 2n
  rows.remove(rows.create(BALANCE_KEY(3)))
  state.sealBlock(2)
  const before = store.entries()
  assert.deepEqual(
    [...state.pending()].map(([key]) => stateKeyText(key)),
    ['journal/0000000000000002'],
  )
  assert.deepEqual(state.undoBlocks(2, 2), [])
  commit()
  assert.deepEqual(store.entries(), before)
})

test('a row created and deleted between two commits is not written', () => {
  const { state, rows } = filled(2)
  state.sealBlock(1)
  rows.remove(rows.find(BALANCE_KEY(0)))
  state.sealBlock(2)
  state.forgetBlocks(1, 2)
  const keys = [...state.pending()].map(([key]) => stateKeyText(key))
  assert.deepEqual(
    keys.filter((key) => key.startsWith('balance/')),
    [`balance/${rows.idOf(rows.find(BALANCE_KEY(1)))}`],
  )
})

test('a journal holds the words that changed, not the rows', () => {
  const { state, rows, cursor } = filled(200)
  state.sealBlock(1)
  for (let at = 0; at < 200; at++) cursor.edit(rows.find(BALANCE_KEY(at))).amount = BigInt(at + 1)
  state.sealBlock(2)
  const [, journal] = [...state.pending()].find(([key]) => key === 'journal/0000000000000002') ?? []
  const keyBytes = 4 * BALANCE_KEY(0).length
  const [head, mask, word] = [8, 4, 4]
  assert.ok((journal?.length ?? 0) < 200 * (head + keyBytes + mask + word) + 50, `${journal?.length} bytes`)
})

test('a block that is half applied is neither committed nor undone, only abandoned', () => {
  const { state, rows, cursor, commit } = filled(1)
  state.sealBlock(1)
  commit()
  cursor.edit(rows.find(BALANCE_KEY(0))).amount = 9n
  assert.throws(() => [...state.pending()])
  assert.throws(() => state.undoBlocks(1, 1))
  state.abandon()
  assert.equal(cursor.at(rows.find(BALANCE_KEY(0))).amount, 0n)
})

test('a copied row has all fields of the other, and an undo restores it', () => {
  const { state, rows, cursor } = filled(8)
  state.sealBlock(1)
  const [from, to] = [rows.find(BALANCE_KEY(7)), rows.find(BALANCE_KEY(2))]
  rows.copy(from, to)
  state.sealBlock(2)
  assert.deepEqual(
    [from, to].map((slot) => cursor.at(slot).amount),
    [7n, 7n],
  )
  state.undoBlocks(2, 2)
  assert.deepEqual(
    [from, to].map((slot) => cursor.at(slot).amount),
    [7n, 2n],
  )
})

test('a row that is known to be new is created without reading the store', () => {
  const asked: string[] = []
  const state = new JournaledState({
    get: (key) => {
      asked.push(stateKeyText(key))
      return undefined
    },
    hashSecret: [1, 2],
  })
  const rows = state.rows('balance', BALANCE, { key: ['id', 'id'], maxRows: 100 })
  rows.create(BALANCE_KEY(1))
  assert.deepEqual(asked, [])
  assert.equal(rows.find(BALANCE_KEY(2)), NONE)
  rows.create(BALANCE_KEY(2))
  assert.equal(asked.length, 1)
})

test('creating a row that exists is an error', () => {
  const { rows } = filled(1)
  assert.throws(() => rows.create(BALANCE_KEY(0)), /exists already/)
})
