import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { entriesAfter, MemoryState } from '../../test/support/rigs/memory-state.ts'
import { text } from '../wire/codec.ts'
import { JournaledState } from './journaled-state.ts'
import { Key } from './key.ts'
import { flag, layout, optional, u32, u256, volatile } from './layout.ts'
import { NONE } from './slot-index.ts'

const BALANCE = layout({ isNegative: flag, amount: u256, hint: volatile })
const MINUTE = layout({ trades: u32, open: optional(u256) })

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
    const notes = this.state.table('note', text)
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
  test(`INV: rows and records behave like a model that copies all values before each block, with ${name}`, () => {
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
