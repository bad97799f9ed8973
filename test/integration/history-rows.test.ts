import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import fc from 'fast-check'
import type { Change, ChangeSet } from '../../src/domain/change.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import type { TableRows } from '../../src/store/clickhouse/rows.ts'
import { TABLE_NAMES } from '../../src/store/clickhouse/table-names.ts'
import { change } from '../support/arbitraries/change-arbitraries.ts'
import { readRowBinary, type TextRow } from '../support/reference/read-row-binary.ts'
import { rowsOfSets } from '../support/reference/rows-of-sets.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const DATABASE = 'rows'
/** A month each, most of them: a part for each partition. */
const CHANGES = 250

let stack: Stack
let client: ClickHouseClient
let tables: TableRows[]
const common = createTestCommon()

before(async () => {
  stack = await startStack({ services: ['clickhouse'] })
  client = createClient({ url: stack.clickhouseUrl, database: DATABASE })
  const options = { url: stack.clickhouseUrl, database: DATABASE, username: 'default', password: '' }
  await migrate(options, common)
  const sampled = fc.sample(change, { numRuns: 1_000, seed: 7 }).filter(isStorable)
  tables = rowsOfSets(sampled.slice(0, CHANGES).map(setOf))
  const store = openHistoryStore(options, common)
  await store.write(tables).finally(() => store.close())
})

after(async () => {
  await client?.close()
  await stack?.stop()
})

function setOf(of: Change, seq = 0): ChangeSet {
  const head = { number: 1, hash: '0x01', time: 5 }
  return { chain: 'eth', seq, cause: 'block', head, finalNumber: 0, changes: [of] }
}

/** The arbitraries have times that no column can hold, too. */
function isStorable(of: Change): boolean {
  try {
    rowsOfSets([setOf(of)])
    return true
  } catch (error) {
    assert.ok(error instanceof ChaintapeError && error.code === 'message_unreadable', String(error))
    return false
  }
}

async function select<T>(query: string): Promise<T[]> {
  const answer = await client.query({
    query,
    format: 'JSONEachRow',
    clickhouse_settings: {
      date_time_output_format: 'unix_timestamp',
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
      output_format_decimal_trailing_zeros: 1,
    },
  })
  return answer.json<T>()
}

test('each table is written with all its columns, each of the type that the server has', async () => {
  assert.deepEqual(tables.map(({ table }) => table).sort(), [...TABLE_NAMES].sort())
  for (const { table, columns, types } of tables) {
    const described = await select<{ name: string; type: string }>(`DESCRIBE TABLE ${table}`)
    assert.deepEqual(
      Object.fromEntries(columns.map((column, at) => [column, types[at]])),
      Object.fromEntries(described.map(({ name, type }) => [name, type])),
      table,
    )
  }
})

test('the server reads every cell as it was written, at the limits of its type, too', async () => {
  for (const rows of tables) {
    const stored = await select<Record<string, unknown>>(`SELECT * FROM ${rows.table}`)
    const asText = stored.map((row): TextRow => {
      const cells = Object.entries(row).map(([name, cell]) => [name, cell === null ? null : String(cell)])
      return Object.fromEntries(cells)
    })
    const expected = readRowBinary(rows)
    assert.deepEqual(sorted(asText, rows.columns), sorted(expected, rows.columns), rows.table)
  }
})

function sorted(rows: readonly TextRow[], columns: readonly string[]): string[] {
  return rows.map((row) => JSON.stringify(columns.map((column) => row[column]))).sort()
}
