import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encoded, JournaledTables, journalName, readable } from '../../test/support/rigs/journaled-tables.ts'
import { TEST_HASH_SECRET } from '../../test/support/rigs/memory-state.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import { type Codec, text } from '../wire/codec.ts'
import { JournaledState } from './journaled-state.ts'

test('writing an equal value, or deleting a missing key, leaves no trace', () => {
  const real = new JournaledTables()
  real.apply(1, [{ table: 'pair', id: 'a', value: 'x' }])
  real.commit()
  real.apply(2, [
    { table: 'pair', id: 'a', value: 'y' },
    { table: 'pair', id: 'a', value: 'x' },
    { table: 'pair', id: 'b', value: 'new' },
    { table: 'pair', id: 'b', value: undefined },
    { table: 'token', id: 'a', value: undefined },
  ])
  assert.deepEqual(
    [...real.state.pending()].map(([key]) => key),
    [journalName(2)],
  )
  assert.deepEqual(real.state.undoBlocks(2, 2), [])
})

test('a record that returned to its old value is reported with all values in between', () => {
  const real = new JournaledTables()
  real.apply(1, [{ table: 'pair', id: 'a', value: 'x' }])
  real.apply(2, [
    { table: 'pair', id: 'a', value: 'y' },
    { table: 'pair', id: 'b', value: 'y' },
  ])
  real.apply(3, [
    { table: 'pair', id: 'a', value: 'x' },
    { table: 'pair', id: 'b', value: undefined },
  ])
  assert.deepEqual(real.state.undoBlocks(2, 3).map(readable), [
    { key: 'pair/a', undone: ['x', 'y'].map(encoded), restored: encoded('x') },
    { key: 'pair/b', undone: [encoded('y')], restored: undefined },
  ])
})

test('writes of a block are not pending before the block is sealed', () => {
  const real = new JournaledTables()
  real.apply(1, [{ table: 'pair', id: 'a', value: 'x' }])
  real.tables.pair.put('a', 'y')
  real.tables.pair.put('b', 'y')
  real.commit()
  assert.deepEqual([...real.store.records.keys()], [journalName(1), 'pair/a'])
  assert.equal(real.dump().get('pair/a'), encoded('x'))
  real.state.sealBlock(2)
  assert.equal(real.dump().get('pair/a'), encoded('y'))
  real.state.undoBlocks(2, 2)
  assert.deepEqual([real.tables.pair.get('a'), real.tables.pair.get('b')], ['x', undefined])
})

test('a block that became final before the commit writes its records, but no journal', () => {
  const real = new JournaledTables()
  for (const number of [1, 2, 3]) real.apply(number, [{ table: 'pair', id: 'a', value: `v${number}` }])
  real.state.forgetBlocks(1, 2)
  assert.deepEqual([...real.state.pending()].map(([key]) => key).sort(), [journalName(3), 'pair/a'])
})

test('memory of uncommitted changes falls when blocks become final, and is zero after a commit', () => {
  const real = new JournaledTables()
  const sizes = [real.state.uncommittedBytes]
  for (const number of [1, 2, 3]) {
    real.apply(number, [{ table: 'pair', id: 'a', value: `v${number}` }])
    sizes.push(real.state.uncommittedBytes)
  }
  assert.equal(sizes[0], 0)
  for (const at of [1, 2, 3]) assert.ok((sizes[at] as number) > (sizes[at - 1] as number))
  real.state.forgetBlocks(1, 3)
  assert.ok(real.state.uncommittedBytes < (sizes[2] as number))
  real.commit()
  assert.equal(real.state.uncommittedBytes, 0)
  real.apply(4, [{ table: 'pair', id: 'a', value: 'v4' }])
  real.state.abandon()
  assert.equal(real.state.uncommittedBytes, 0)
})

test('a forgotten block cannot be undone, and the attempt changes nothing', () => {
  const real = new JournaledTables()
  for (const number of [1, 2, 3]) real.apply(number, [{ table: 'pair', id: 'a', value: `v${number}` }])
  real.state.forgetBlocks(1, 1)
  for (const isCommitted of [false, true]) {
    if (isCommitted) real.commit()
    const before = real.dump()
    assert.throws(() => real.state.undoBlocks(1, 3), {
      code: 'fork_below_final',
      message: 'block 1 cannot be undone any more',
    })
    assert.deepEqual(real.dump(), before)
    assert.equal(real.tables.pair.get('a'), 'v3')
  }
  real.state.undoBlocks(2, 3)
  assert.equal(real.tables.pair.get('a'), 'v1')
})

test('a key set outside of blocks is committed with them, and no undo restores its old value', () => {
  const real = new JournaledTables()
  const [older, newer] = [Uint8Array.of(1), Uint8Array.of(2)]
  real.state.setOutsideBlocks('meta', 'tip', older)
  real.commit()
  real.apply(1, [{ table: 'pair', id: 'a', value: 'x' }])
  real.state.setOutsideBlocks('meta', 'tip', newer)
  assert.deepEqual(real.state.getOutsideBlocks('meta', 'tip'), newer)
  real.state.abandon()
  assert.deepEqual(real.state.getOutsideBlocks('meta', 'tip'), older)
  real.apply(1, [{ table: 'pair', id: 'a', value: 'x' }])
  real.state.setOutsideBlocks('meta', 'tip', newer)
  real.state.undoBlocks(1, 1)
  real.commit()
  assert.deepEqual(real.dump(), new Map([['meta/tip', '02']]))
  real.state.setOutsideBlocks('meta', 'tip', undefined)
  real.commit()
  assert.equal(real.dump().size, 0)
})

test('a record is decoded once and cached until it is undone', () => {
  let reads = 0
  const counting: Codec<string> = {
    write: text.write,
    read: (r) => {
      reads++
      return r.text()
    },
  }
  const w = new ByteWriter()
  w.text('x')
  const state = new JournaledState({ get: () => w.finish(), hashSecret: TEST_HASH_SECRET })
  const table = state.table('pair', counting)
  assert.deepEqual([table.get('a'), table.get('a'), reads], ['x', 'x', 1])
  state.committed()
  assert.deepEqual([table.get('a'), reads], ['x', 1])
  state.abandon()
  assert.deepEqual([table.get('a'), reads], ['x', 2])
  table.put('a', 'y')
  state.sealBlock(1)
  state.undoBlocks(1, 1)
  assert.deepEqual([table.get('a'), reads], ['x', 3])
})

test('more records than fit in memory are all readable, written or not, committed or not', () => {
  const real = new JournaledTables()
  const ids = Array.from({ length: 50_000 }, (_, at) => `id${at}`)
  const check = (ending: string): void => {
    for (const id of ids) assert.equal(real.tables.pair.get(id), id + ending)
  }
  for (const [number, ending] of ['', 'a', 'b'].entries()) {
    for (const id of ids) real.tables.pair.put(id, id + ending)
    real.state.sealBlock(number)
    check(ending)
    if (number === 1) real.commit()
    check(ending)
  }
  real.state.undoBlocks(2, 2)
  check('a')
  real.state.undoBlocks(1, 1)
  check('')
})
