import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { entriesAfter, MemoryState, TEST_HASH_SECRET } from '../../test/support/rigs/memory-state.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import { JournaledState, type RecordCodec, type Table } from './journaled-state.ts'
import type { Restored } from './undone-values.ts'

const codec: RecordCodec<string> = { write: (w, record) => w.text(record), read: (r) => r.text() }

const TABLES = ['pair', 'token'] as const
const IDS = ['a', 'b', 'c/d', '', '__proto__'] as const
const VALUES = ['', 'x', 'y', 'long'.repeat(100)] as const

type Write = { table: (typeof TABLES)[number]; id: (typeof IDS)[number]; value: string | undefined }
type Step =
  | { do: 'block'; writes: readonly Write[] }
  | { do: 'undo'; count: number }
  | { do: 'forget'; count: number }
  | { do: 'commit' }
  | { do: 'abandon' }

const write: fc.Arbitrary<Write> = fc.record({
  table: fc.constantFrom(...TABLES),
  id: fc.constantFrom(...IDS),
  value: fc.constantFrom(undefined, ...VALUES),
})
const writes = fc.array(write, { maxLength: 6 })
const block = fc.record({ do: fc.constant('block' as const), writes })
const commit = fc.constant<Step>({ do: 'commit' })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: block },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('undo' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: commit },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('forget' as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'abandon' }) },
)

type Values = ReadonlyMap<string, string>

/** Reference: a copy of everything before each block. */
type Model = {
  readonly values: Values
  /** The next block's number, and the values before each block that can still be undone. */
  readonly next: number
  readonly before: ReadonlyMap<number, Values>
}

class Real {
  readonly store = new MemoryState()
  readonly state = new JournaledState(this.store)
  readonly tables: Record<(typeof TABLES)[number], Table<string>> = {
    pair: this.state.table('pair', codec),
    token: this.state.table('token', codec),
  }

  commit(): void {
    this.store.write(this.state.pending())
    this.state.committed()
  }

  apply(number: number, list: readonly Write[]): void {
    for (const { table, id, value } of list) {
      if (value === undefined) this.tables[table].delete(id)
      else this.tables[table].put(id, value)
      assert.equal(this.tables[table].get(id), value, 'a block reads its own writes')
    }
    this.state.sealBlock(number)
  }

  applyAll(first: number, blocks: readonly { writes: readonly Write[] }[]): void {
    for (const [at, { writes: list }] of blocks.entries()) this.apply(first + at, list)
  }

  /** The complete state after a commit now, byte for byte. */
  dump(): Map<string, string> {
    const entries = entriesAfter(this.store.entries(), this.state.pending())
    return new Map(entries.map(([key, value]) => [key, hex(value)]))
  }
}

function hex(value: Uint8Array): string {
  return Buffer.from(value).toString('hex')
}

function encoded(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const w = new ByteWriter()
  w.text(value)
  return hex(w.finish())
}

function changedKeys(a: Values, b: Values): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key)).sort()
}

function applied(values: Values, list: readonly Write[]): Values {
  const result = new Map(values)
  for (const { table, id, value } of list) {
    if (value === undefined) result.delete(`${table}/${id}`)
    else result.set(`${table}/${id}`, value)
  }
  return result
}

function journalName(number: number): string {
  return `journal/${String(number).padStart(16, '0')}`
}

function readJournal(written: string): Map<string, string | undefined> {
  const r = new ByteReader(Buffer.from(written, 'hex'))
  const entries = r.list(() => [r.text(), r.optional(() => r.bytes())] as const)
  r.end()
  assert.equal(new Set(entries.map(([key]) => key)).size, entries.length, 'a key stands once in a journal')
  return new Map(entries.map(([key, before]) => [key, before === undefined ? undefined : hex(before)]))
}

function readable({ table, id, undone, restored }: Restored) {
  return {
    key: `${table}/${id}`,
    undone: undone.map(hex),
    restored: restored === undefined ? undefined : hex(restored),
  }
}

/** The expected report of undoing all blocks from `first` on. */
function expectedRestored(model: Model, first: number) {
  const undone = new Map<string, string[]>()
  let after = model.values
  for (let number = model.next - 1; number >= first; number--) {
    const before = model.before.get(number) as Values
    for (const key of changedKeys(before, after)) {
      const value = encoded(after.get(key))
      undone.set(key, [...(undone.get(key) ?? []), ...(value === undefined ? [] : [value])])
    }
    after = before
  }
  return [...undone.keys()]
    .sort()
    .map((key) => ({ key, undone: undone.get(key), restored: encoded(after.get(key)) }))
}

function run(model: Model, committed: Model, real: Real, next: Step): { model: Model; committed: Model } {
  switch (next.do) {
    case 'block': {
      real.apply(model.next, next.writes)
      const before = new Map(model.before).set(model.next, model.values)
      return {
        committed,
        model: { values: applied(model.values, next.writes), next: model.next + 1, before },
      }
    }
    case 'undo': {
      const first = model.next - next.count
      const target = model.before.get(first)
      if (target === undefined) {
        assert.throws(() => real.state.undoBlocks(first, model.next - 1), { code: 'fork_below_final' })
        return { committed, model }
      }
      const restored = real.state.undoBlocks(first, model.next - 1)
      assert.deepEqual(restored.map(readable), expectedRestored(model, first))
      const before = new Map([...model.before].filter(([number]) => number < first))
      return { committed, model: { values: target, next: first, before } }
    }
    case 'forget': {
      const first = Math.min(model.next, ...model.before.keys())
      const last = Math.min(first + next.count, model.next) - 1
      real.state.forgetBlocks(first, last)
      const before = new Map([...model.before].filter(([number]) => number > last))
      return { committed, model: { ...model, before } }
    }
    case 'commit':
      real.commit()
      assert.deepEqual([...real.state.pending()], [])
      return { committed: model, model }
    case 'abandon':
      real.state.abandon()
      return { committed, model: committed }
  }
}

function assertAgree(model: Model, real: Real): void {
  const dump = real.dump()
  const records = [...dump].filter(([key]) => !key.startsWith('journal/'))
  const expected = [...model.values].map(([key, value]) => [key, encoded(value)])
  assert.deepEqual(new Map(records), new Map(expected as [string, string][]))
  assert.deepEqual(
    [...dump.keys()].filter((key) => key.startsWith('journal/')),
    [...model.before.keys()].sort((a, b) => a - b).map(journalName),
  )
  for (const table of TABLES) {
    for (const id of IDS) assert.equal(real.tables[table].get(id), model.values.get(`${table}/${id}`))
  }
}

test('INV: behaves as copying everything before each block would', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
      const real = new Real()
      let model: Model = { values: new Map(), next: 1, before: new Map() }
      let committed = model
      for (const next of steps) {
        ;({ model, committed } = run(model, committed, real, next))
        assertAgree(model, real)
      }
    }),
    { numRuns: 500 },
  )
})

test('INV: undo(apply(x)) is x, byte for byte, wherever it was committed in between', () => {
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 5 }),
      fc.array(fc.tuple(block, fc.boolean()), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      (history, blocks, isCommittedBefore) => {
        const real = new Real()
        real.applyAll(0, history)
        if (isCommittedBefore) real.commit()
        const start = real.dump()
        blocks.forEach(([{ writes: list }, isCommitted], at) => {
          real.apply(history.length + at, list)
          if (isCommitted) real.commit()
        })
        real.state.undoBlocks(history.length, history.length + blocks.length - 1)
        assert.deepEqual(real.dump(), start)
        real.commit()
        assert.deepEqual(real.dump(), start)
      },
    ),
    { numRuns: 300 },
  )
})

test('undoing block by block, or all at once, leaves the same', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 2, maxLength: 6 }), fc.nat(), (blocks, place) => {
      const split = 1 + (place % (blocks.length - 1))
      const [once, twice] = [new Real(), new Real()]
      for (const real of [once, twice]) real.applyAll(0, blocks)
      once.state.undoBlocks(0, blocks.length - 1)
      twice.state.undoBlocks(split, blocks.length - 1)
      twice.state.undoBlocks(0, split - 1)
      assert.deepEqual(twice.dump(), once.dump())
      assert.equal(once.dump().size, 0)
    }),
  )
})

test('a journal holds the value from before the block of exactly what the block changed: first touch wins', () => {
  fc.assert(
    fc.property(writes, writes, (earlier, later) => {
      const real = new Real()
      real.apply(1, earlier)
      real.apply(2, later)
      const before = applied(new Map(), earlier)
      const expected = changedKeys(before, applied(before, later)).map(
        (key) => [key, encoded(before.get(key))] as const,
      )
      const journal = readJournal(real.dump().get(journalName(2)) as string)
      assert.deepEqual(new Map([...journal].sort()), new Map(expected))
    }),
  )
})

test('the same blocks give the same bytes, whatever was read or committed in between', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(block, fc.boolean(), fc.boolean()), { maxLength: 6 }), (blocks) => {
      const [plain, disturbed] = [new Real(), new Real()]
      blocks.forEach(([{ writes: list }, isRead, isCommitted], at) => {
        plain.apply(at, list)
        // Reading in another order than writing must not affect the order inside the journal.
        if (isRead) for (const id of IDS.toReversed()) disturbed.tables.pair.get(id)
        disturbed.apply(at, list)
        if (isCommitted) disturbed.commit()
      })
      assert.deepEqual(disturbed.dump(), plain.dump())
    }),
  )
})

test('writing what is already there, or deleting what is not, leaves no trace', () => {
  const real = new Real()
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

test('what came back to its old value is reported with all that it was in between', () => {
  const real = new Real()
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

test('what a block has written is not pending before it is sealed', () => {
  const real = new Real()
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

test('of a block that became final before the commit, nothing is written but its records', () => {
  const real = new Real()
  for (const number of [1, 2, 3]) real.apply(number, [{ table: 'pair', id: 'a', value: `v${number}` }])
  real.state.forgetBlocks(1, 2)
  assert.deepEqual([...real.state.pending()].map(([key]) => key).sort(), [journalName(3), 'pair/a'])
})

test('the memory that uncommitted changes take falls when blocks become final, and is none after a commit', () => {
  const real = new Real()
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
  const real = new Real()
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

test('a key set outside of blocks is committed with them, and no undo brings the old value back', () => {
  const real = new Real()
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

test('a record is read with its codec once, then kept, until it is taken back', () => {
  let reads = 0
  const counting: RecordCodec<string> = {
    write: codec.write,
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

test('more records than are kept in memory are all there, written or not, committed or not', () => {
  const real = new Real()
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
