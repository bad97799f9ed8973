import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  encoded,
  hex,
  JournaledTables,
  journalName,
  readable,
  TABLES,
  type Write,
} from '../../test/support/rigs/journaled-tables.ts'
import { ByteReader } from '../wire/byte-reader.ts'

const IDS = ['a', 'b', 'c/d', '', '__proto__'] as const
const VALUES = ['', 'x', 'y', 'long'.repeat(100)] as const

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

function readJournal(written: string): Map<string, string | undefined> {
  const r = new ByteReader(Buffer.from(written, 'hex'))
  const entries = r.list(() => [r.text(), r.optional(() => r.bytes())] as const)
  r.end()
  assert.equal(new Set(entries.map(([key]) => key)).size, entries.length, 'a key stands once in a journal')
  return new Map(entries.map(([key, before]) => [key, before === undefined ? undefined : hex(before)]))
}

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

function run(
  model: Model,
  committed: Model,
  real: JournaledTables,
  next: Step,
): { model: Model; committed: Model } {
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

function assertAgree(model: Model, real: JournaledTables): void {
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

test('INV: behaves like a model that copies all values before each block', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
      const real = new JournaledTables()
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
        const real = new JournaledTables()
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

test('undoing block by block, or all at once, gives the same state', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 2, maxLength: 6 }), fc.nat(), (blocks, place) => {
      const split = 1 + (place % (blocks.length - 1))
      const [once, twice] = [new JournaledTables(), new JournaledTables()]
      for (const real of [once, twice]) real.applyAll(0, blocks)
      once.state.undoBlocks(0, blocks.length - 1)
      twice.state.undoBlocks(split, blocks.length - 1)
      twice.state.undoBlocks(0, split - 1)
      assert.deepEqual(twice.dump(), once.dump())
      assert.equal(once.dump().size, 0)
    }),
  )
})

test('a journal holds the previous value of each key that the block changed, and of no other', () => {
  fc.assert(
    fc.property(writes, writes, (earlier, later) => {
      const real = new JournaledTables()
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
      const [plain, disturbed] = [new JournaledTables(), new JournaledTables()]
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
