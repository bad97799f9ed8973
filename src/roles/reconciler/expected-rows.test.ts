import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  buildBalance,
  buildCandle,
  buildPair,
  buildToken,
  buildTrade,
  Dice,
} from '../../../test/support/builders/change-builders.ts'
import { readRowBinary } from '../../../test/support/reference/read-row-binary.ts'
import type { Change, ChangeSet } from '../../domain/change.ts'
import { DifferenceList } from '../../domain/reconciliation.ts'
import type { StoredRows } from '../../store/clickhouse/read/stored-rows.ts'
import { type CellRow, cellRows, cellText } from '../../store/clickhouse/row-cells.ts'
import { ROW_KEYS } from '../../store/clickhouse/row-keys.ts'
import { rowsOf } from '../../store/clickhouse/rows.ts'
import { TABLE_NAMES, type TableName } from '../../store/clickhouse/table-names.ts'
import { latestChanges } from '../../store/latest-changes.ts'
import { encodeChangeSet } from '../../wire/change-codec.ts'
import { type ChangeSetIndex, indexChangeSet } from '../../wire/change-index.ts'
import { ExpectedRows } from './expected-rows.ts'

const pool = { address: '0xaa', token0: '0xbb', token1: '0xcc' }
const dice = new Dice(1)
/** They never change, and search terms follow from them. */
const NAMES = { name: 'Pepper Coin', symbol: 'PEP' }

function setOf(seq: number): ChangeSetIndex {
  const changes: Change[] = [
    { type: 'trade', trade: buildTrade(dice, pool, { block: seq, tx: 1, log: 2 }, 1_000 + seq) },
    { type: 'candle', candle: buildCandle(dice, pool.address, 'k1', { block: seq, tx: 1, log: 2 }, 960) },
    { type: 'pair', pair: buildPair(dice, pool, 1_000) },
    { type: 'token', token: { ...buildToken(dice, pool.token0, 1_000), ...NAMES } },
    { type: 'balance', balance: buildBalance(dice, pool.token0) },
  ]
  const head = { number: seq, hash: '0x01', time: 1_000 + seq }
  const set: ChangeSet = { chain: 'eth', seq, cause: 'block', head, finalNumber: 0, changes }
  return indexChangeSet(encodeChangeSet(set))
}

/** Holds what batches of the writer leave: for each, the latest version of every key. */
class FakeStore {
  readonly tables = new Map<TableName, { columns: readonly string[]; rows: CellRow[] }>()

  constructor(...batches: readonly (readonly ChangeSetIndex[])[]) {
    for (const batch of batches) {
      for (const { table, columns, types, chunks } of rowsOf(latestChanges(batch))) {
        const known = this.tables.get(table) ?? { columns, rows: [] }
        known.rows.push(...cellRows(Buffer.concat(chunks), types))
        this.tables.set(table, known)
      }
    }
  }

  rowsOf(table: TableName, after: number, upTo: number): CellRow[] {
    const { columns, rows } = this.tables.get(table) ?? { columns: [], rows: [] }
    const seqAt = columns.indexOf('seq')
    return rows.filter((row) => {
      const seq = Number(row[seqAt]?.readBigUInt64LE())
      return seq > after && seq <= upTo
    })
  }

  readonly versions: StoredRows['versions'] = async ({ name }, { after, upTo }) =>
    this.rowsOf(name, after, upTo)

  readonly later: StoredRows['later'] = async ({ name, columns }, { upTo }) =>
    this.rowsOf(name, upTo, Number.MAX_SAFE_INTEGER).map((row) =>
      [...ROW_KEYS[name].key, 'seq'].map((column) => row[columns.indexOf(column)] as Buffer),
    )
}

async function compare(sets: readonly ChangeSetIndex[], store: FakeStore, expiredBefore = 0) {
  const rows = new ExpectedRows()
  for (const set of sets) rows.add(set)
  const differences = new DifferenceList()
  await rows.compare('eth', store, () => expiredBefore, differences)
  return differences.examples
}

const sets = [1, 2, 3, 4].map(setOf)

test('rows agree however the writer batched them', async () => {
  assert.deepEqual(await compare(sets, new FakeStore(...sets.map((set) => [set]))), [])
  assert.deepEqual(await compare(sets, new FakeStore(sets)), [])
  assert.deepEqual(await compare(sets, new FakeStore(sets.slice(0, 3), sets.slice(3))), [])
  // The last version of the stretch was replaced by a batch that ends later, except events: each has a key of its own.
  assert.deepEqual(await compare(sets.slice(0, 2), new FakeStore(sets)), [])
})

test('a changed cell is named with both values', async () => {
  const store = new FakeStore(sets)
  const trades = store.tables.get('trades')
  const at = trades?.columns.indexOf('block') ?? 0
  const row = [...(trades?.rows[0] ?? [])]
  const symbolAt = trades?.columns.indexOf('sold_symbol') ?? 0
  row[symbolAt] = Buffer.from('\x05WRONG')
  trades?.rows.splice(0, 1, row)
  const [found, ...others] = await compare(sets, store)
  assert.deepEqual(others, [])
  assert.equal(found?.kind, 'row')
  assert.match(found?.where ?? '', new RegExp(`^trades 0xaa \\d+ ${row[at]?.readBigUInt64LE()} 1 2$`))
  assert.match(found?.what ?? '', /^sold_symbol of version \d$/)
  assert.equal(found?.stored, 'WRONG')
})

test('a missing row and a row of no change are named', async () => {
  const missing = new FakeStore(sets)
  missing.tables.get('pairs')?.rows.pop()
  const [gone, ...noMore] = await compare(sets, missing)
  assert.deepEqual([gone?.where, gone?.what, gone?.stored], ['pairs 0xaa', 'version 4', 'none'])
  assert.deepEqual(noMore, [])
  const all = new FakeStore(...sets.map((set) => [set]))
  const [extra] = await compare([sets[0], sets[3]] as ChangeSetIndex[], all)
  assert.deepEqual([extra?.stored, extra?.computed], ['a row', 'none'])
})

test('rows that were dropped by age are not missed', async () => {
  const store = new FakeStore(sets)
  store.tables.get('trades')?.rows.splice(0)
  assert.equal((await compare(sets, store)).length, 4)
  assert.deepEqual(await compare(sets, store, 2_000), [])
})

test('cells are printed as an independent reader prints them', () => {
  for (const table of rowsOf(latestChanges(sets))) {
    const texts = readRowBinary(table)
    const rows = [...cellRows(Buffer.concat(table.chunks), table.types)]
    assert.equal(rows.length, texts.length)
    for (const [index, row] of rows.entries()) {
      for (const [at, type] of table.types.entries()) {
        const expected = texts[index]?.[table.columns[at] as string]
        const text = cellText(row[at] as Buffer, type)
        if (type.includes('Bool') && expected !== null) assert.equal(text === '1', expected === 'true')
        else assert.equal(text, expected ?? 'NULL')
      }
    }
  }
})

test('the keys are those of the tables', () => {
  const folder = new URL('../../store/clickhouse/migrations/', import.meta.url)
  for (const name of TABLE_NAMES) {
    const file = readdirSync(folder).find((each) => each.endsWith(`_${name}.sql`)) as string
    const order = /ORDER BY \(([^)]+)\)/.exec(readFileSync(new URL(file, folder), 'utf8'))?.[1]
    assert.deepEqual(
      ROW_KEYS[name].key,
      order?.split(', ').filter((column) => column !== 'chain'),
    )
  }
})
