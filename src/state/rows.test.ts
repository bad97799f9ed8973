import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { entriesAfter, MemoryState } from '../../test/support/rigs/memory-state.ts'
import { JournaledState, type RecordCodec } from './journaled-state.ts'
import { Key } from './key.ts'
import { flag, layout, optional, u32, u256, volatile } from './layout.ts'
import { NONE } from './slot-index.ts'
import { stateKeyText } from './state-key.ts'

const BALANCE = layout({ isNegative: flag, amount: u256, hint: volatile })
const MINUTE = layout({ trades: u32, open: optional(u256) })
const textCodec: RecordCodec<string> = { write: (w, text) => w.text(text), read: (r) => r.text() }

const TOKENS = ['0xaa', '0xbb', 'text']
const WALLETS = ['0x01', `0x${'02'.repeat(32)}`, '']
const MINUTES = [0, 7, 2 ** 32 - 1]

type Write =
  | { in: 'balance'; token: string; wallet: string; value: bigint | undefined }
  | { in: 'minute'; token: string; minute: number; value: bigint | undefined }
  | { in: 'note'; id: string; value: string | undefined }

const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(of, { nil: undefined, freq: 3 })
const token = fc.constantFrom(...TOKENS)
const value = fc.constantFrom(0n, 1n, 5n, 2n ** 255n)
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    in: fc.constant('balance' as const),
    token,
    wallet: fc.constantFrom(...WALLETS),
    value: maybe(value),
  }),
  fc.record({
    in: fc.constant('minute' as const),
    token,
    minute: fc.constantFrom(...MINUTES),
    value: maybe(value),
  }),
  fc.record({ in: fc.constant('note' as const), id: token, value: maybe(fc.constantFrom('', 'x', 'y')) }),
)

type Step =
  | { do: 'block'; writes: readonly Write[] }
  | { do: 'undo'; count: number }
  | { do: 'forget'; count: number }
  | { do: 'commit' | 'restart' | 'abandon' }

const block = fc.record({
  do: fc.constant('block' as const),
  writes: fc.array(write, { maxLength: 8 }),
})
const counted = <D extends 'undo' | 'forget'>(what: D) =>
  fc.record({ do: fc.constant(what), count: fc.integer({ min: 1, max: 4 }) })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: block },
  { weight: 4, arbitrary: counted('undo') },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'commit' }) },
  { weight: 1, arbitrary: counted('forget') },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'restart' }, { do: 'abandon' }) },
)

/** So few rows stay in memory that nearly every commit evicts. */
const MAX_ROWS = 2
/** All keys hash to two buckets. */
const badHash = (key: Key): number => key.length & 1

class Real {
  readonly store = new MemoryState()
  readonly #hash: ((key: Key) => number) | undefined
  state!: JournaledState
  #key = new Key()
  parts!: ReturnType<Real['open']>

  constructor(hash?: (key: Key) => number) {
    this.#hash = hash
    this.parts = this.open()
  }

  open() {
    this.state = new JournaledState(this.store)
    const hash = this.#hash === undefined ? {} : { hash: this.#hash }
    const balances = this.state.rows('balance', BALANCE, { key: ['id', 'id'], maxRows: MAX_ROWS, ...hash })
    const minutes = this.state.rows('minute', MINUTE, { key: ['id', 'u32'], maxRows: MAX_ROWS, ...hash })
    const notes = this.state.table('note', textCodec)
    return { balances, minutes, notes, balance: balances.cursor(), minute: minutes.cursor() }
  }

  restart(): void {
    this.parts = this.open()
  }

  commit(): void {
    this.store.write(this.state.pending())
    this.state.committed()
    for (const rows of [this.parts.balances, this.parts.minutes]) assert.ok(rows.size <= MAX_ROWS)
  }

  write(change: Write): void {
    const { balances, minutes, notes, balance, minute } = this.parts
    if (change.in === 'note') {
      if (change.value === undefined) notes.delete(change.id)
      else notes.put(change.id, change.value)
    } else if (change.in === 'balance') {
      const key = this.#key.clear().id(change.token).id(change.wallet)
      if (change.value === undefined) {
        const slot = balances.find(key)
        if (slot !== NONE) balances.remove(slot)
        return
      }
      const row = balance.edit(balances.findOrCreate(key))
      row.amount = change.value
      row.isNegative = change.value === 5n
      row.hint = 9
    } else {
      const key = this.#key.clear().id(change.token).u32(change.minute)
      const slot = minutes.find(key)
      if (change.value === undefined) {
        if (slot !== NONE) minutes.remove(slot)
        return
      }
      // A row that is removed and recreated within the block keeps nothing of the old one.
      if (slot !== NONE && change.value === 1n) minutes.remove(slot)
      const row = minute.edit(minutes.findOrCreate(key))
      row.trades = Number(change.value % 100n)
      row.open = change.value === 0n ? undefined : change.value
    }
  }

  apply(number: number, writes: readonly Write[]): void {
    for (const change of writes) this.write(change)
    this.state.sealBlock(number)
  }

  /** The fields of all rows and records, by `<table>/<id>`. */
  values(): Map<string, string> {
    const { balances, minutes, notes, balance, minute } = this.parts
    const found = new Map<string, string>()
    for (const each of TOKENS) {
      const note = notes.get(each)
      if (note !== undefined) found.set(`note/${each}`, note)
      for (const wallet of WALLETS) {
        const slot = balances.find(this.#key.clear().id(each).id(wallet))
        if (slot === NONE) continue
        const { amount, isNegative } = balance.at(slot)
        assert.equal(isNegative, amount === 5n)
        found.set(`balance/${balances.idOf(slot)}`, String(amount))
      }
      for (const at of MINUTES) {
        const slot = minutes.find(this.#key.clear().id(each).u32(at))
        if (slot === NONE) continue
        const { trades, open } = minute.at(slot)
        assert.equal(trades, Number((open ?? 0n) % 100n))
        found.set(`minute/${minutes.idOf(slot)}`, String(open ?? 0n))
      }
    }
    return found
  }

  /** The contents of the store after a commit now, byte for byte. */
  dump(): [string, string][] {
    const entries = entriesAfter(this.store.entries(), this.state.pending())
    return entries.map(([key, bytes]) => [key, Buffer.from(bytes).toString('hex')])
  }
}

type Values = ReadonlyMap<string, string>
/** Reference: a copy of everything before each block. */
type Model = { readonly values: Values; readonly next: number; readonly before: ReadonlyMap<number, Values> }

function keyOf(change: Write): string {
  if (change.in === 'note') return `note/${change.id}`
  return change.in === 'balance'
    ? `balance/${change.token}/${change.wallet}`
    : `minute/${change.token}/${change.minute}`
}

function applied(values: Values, writes: readonly Write[]): Values {
  const result = new Map(values)
  for (const change of writes) {
    if (change.value === undefined) result.delete(keyOf(change))
    else result.set(keyOf(change), String(change.value))
  }
  return result
}

function changedKeys(a: Values, b: Values): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key))
}

/** The keys that an undo down to `first` has to report, and whether each exists afterwards. */
function expectedRestored({ values, next, before }: Model, first: number): [string, boolean, number][] {
  const undone = new Map<string, number>()
  let after = values
  for (let number = next - 1; number >= first; number--) {
    const was = before.get(number) as Values
    for (const key of changedKeys(was, after))
      undone.set(key, (undone.get(key) ?? 0) + (after.has(key) ? 1 : 0))
    after = was
  }
  return [...undone].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, count]) => [key, after.has(key), count])
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
      assert.deepEqual(
        restored.map(({ table, id, undone, restored: now }) => [
          `${table}/${id}`,
          now !== undefined,
          undone.length,
        ]),
        expectedRestored(model, first),
      )
      const before = new Map([...model.before].filter(([number]) => number < first))
      return { committed, model: { values: target, next: first, before } }
    }
    case 'forget': {
      const first = Math.min(model.next, ...model.before.keys())
      const last = Math.min(first + next.count, model.next) - 1
      real.state.forgetBlocks(first, last)
      return {
        committed,
        model: { ...model, before: new Map([...model.before].filter(([at]) => at > last)) },
      }
    }
    case 'commit':
      real.commit()
      return { committed: model, model }
    case 'restart':
      real.restart()
      return { committed, model: committed }
    case 'abandon':
      real.state.abandon()
      return { committed, model: committed }
  }
}

function sorted(values: Values): [string, string][] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1))
}

for (const [name, hash] of [
  ['the seeded hash', undefined],
  ['a hash under which all keys collide', badHash],
] as const) {
  test(`INV: rows and records behave as copying everything before each block would, with ${name}`, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
        const real = new Real(hash)
        let model: Model = { values: new Map(), next: 1, before: new Map() }
        let committed = model
        for (const next of steps) {
          ;({ model, committed } = run(model, committed, real, next))
          assert.deepEqual(sorted(real.values()), sorted(model.values))
        }
      }),
      { numRuns: 300 },
    )
  })
}

test('INV: undo(apply(x)) is x, byte for byte, with commits and restarts in between', () => {
  const after = fc.constantFrom('nothing', 'commit', 'restart')
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 5 }),
      fc.array(fc.tuple(block, after), { minLength: 1, maxLength: 6 }),
      (history, blocks) => {
        const real = new Real()
        for (const [at, { writes }] of history.entries()) real.apply(at, writes)
        const start = real.dump()
        for (const [at, [{ writes }, then]] of blocks.entries()) {
          real.apply(history.length + at, writes)
          if (then !== 'nothing') real.commit()
          if (then === 'restart') real.restart()
        }
        real.state.undoBlocks(history.length, history.length + blocks.length - 1)
        assert.deepEqual(real.dump(), start)
        real.commit()
        real.restart()
        assert.deepEqual(real.dump(), start)
      },
    ),
    { numRuns: 300 },
  )
})

test('the same blocks give the same bytes, whatever was committed, read or evicted in between', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(block, fc.boolean(), fc.boolean()), { maxLength: 6 }), (blocks) => {
      const [plain, disturbed] = [new Real(), new Real(badHash)]
      for (const [at, [{ writes }, isCommitted, isRead]] of blocks.entries()) {
        plain.apply(at, writes)
        disturbed.apply(at, writes)
        if (isCommitted) disturbed.commit()
        if (isRead) disturbed.values()
      }
      assert.deepEqual(disturbed.dump(), plain.dump())
    }),
  )
})

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

test('a block may create more rows than stay in memory; all are there before and after they are evicted', () => {
  const { store, state, rows, cursor, commit } = filled(5_000)
  state.sealBlock(1)
  const check = (): void => {
    for (let at = 0; at < 5_000; at++) assert.equal(cursor.at(rows.find(BALANCE_KEY(at))).amount, BigInt(at))
  }
  check()
  assert.equal(rows.size, 5_000)
  commit()
  assert.equal(rows.size, 100)
  check()
  commit()
  assert.equal(rows.size, 100)
  state.undoBlocks(1, 1)
  commit()
  assert.deepEqual(store.entries(), [])
})

test('rows in use survive an eviction; those that rest make room', () => {
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

test('a slot kept as a hint is good only for its own key', () => {
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

test('a row is reported as it was and as it is again, by its fields', () => {
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

test('a row that was touched but is what it was is neither committed nor journaled', () => {
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

test('a row that came and went between two commits is not written', () => {
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

test('a copied row has all fields of the other, and an undo brings back what it was', () => {
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

test('a row that is known to be new is created without asking the store', () => {
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
