import { buffer } from 'node:stream/consumers'
import type { ClickHouseClient } from '@clickhouse/client'
import { type ClickhouseOptions, connectClickhouse } from '../connect.ts'
import { guardClickhouse } from '../failure.ts'
import { type CellRow, cellRows } from '../row-cells.ts'
import { ROW_KEYS } from '../row-keys.ts'
import type { TableName } from '../table-names.ts'

export type StoredTable = {
  readonly name: TableName
  readonly columns: readonly string[]
  readonly types: readonly string[]
}

export type StoredRange = {
  readonly chain: string
  /** Versions after the first and up to the second. */
  readonly after: number
  readonly upTo: number
  /** Values of the columns in `ROW_KEYS[table].by`, in this order. */
  readonly values: readonly (readonly (string | number)[])[]
  /** First and last value of the time column, if the key has one. */
  readonly times: readonly [number, number] | undefined
}

/** Every version in a table, as bytes, to be compared with what it should hold. */
export type StoredRows = {
  /** Versions in the range, merged or not. */
  versions(table: StoredTable, range: StoredRange): Promise<CellRow[]>
  /** The latest version of each key after the range: its key cells, then its seq. */
  later(table: StoredTable, range: StoredRange): Promise<CellRow[]>
  close(): Promise<void>
}

const MAX_SECONDS = 60
const MAX_ROWS = 1_000_000

export function openStoredRows(options: ClickhouseOptions): StoredRows {
  const client = connectClickhouse(options)
  return {
    versions: (table, range) => {
      const where = `${placeOf(table, range)} AND seq > {after:UInt64} AND seq <= {up_to:UInt64}`
      const sql = `SELECT ${table.columns.join(', ')} FROM ${table.name} WHERE ${where} FORMAT RowBinary`
      return select(client, sql, table, range, table.types)
    },
    later: (table, range) => {
      const { key } = ROW_KEYS[table.name]
      const columns = key.join(', ')
      const where = `${placeOf(table, range)} AND seq > {up_to:UInt64}`
      const sql = `SELECT ${columns}, max(seq) FROM ${table.name} WHERE ${where} GROUP BY ${columns} FORMAT RowBinary`
      return select(client, sql, table, range, [...key.map((column) => typeOf(table, column)), 'UInt64'])
    },
    close: () => client.close(),
  }
}

/** Names are those of our own tables; values are parameters. */
function placeOf(table: StoredTable, { times }: StoredRange): string {
  const { by, time } = ROW_KEYS[table.name]
  const parts = by.map((column, at) => `${column} IN {by${at}:Array(${typeOf(table, column)})}`)
  if (time !== undefined && times !== undefined) {
    parts.push(`${time} >= toDateTime({first:UInt32}, 'UTC') AND ${time} <= toDateTime({last:UInt32}, 'UTC')`)
  }
  return ['chain = {chain:String}', ...parts].join(' AND ')
}

function typeOf({ columns, types }: StoredTable, column: string): string {
  return types[columns.indexOf(column)] as string
}

function select(
  client: ClickHouseClient,
  query: string,
  table: StoredTable,
  { chain, after, upTo, values, times }: StoredRange,
  types: readonly string[],
): Promise<CellRow[]> {
  return guardClickhouse(async () => {
    const { stream } = await client.exec({
      query,
      query_params: {
        ...{ chain, after, up_to: upTo, first: times?.[0] ?? 0, last: times?.[1] ?? 0 },
        ...Object.fromEntries(ROW_KEYS[table.name].by.map((_, at) => [`by${at}`, values[at]])),
      },
      abort_signal: AbortSignal.timeout((MAX_SECONDS + 1) * 1_000),
      clickhouse_settings: {
        max_execution_time: MAX_SECONDS,
        max_result_rows: String(MAX_ROWS),
        result_overflow_mode: 'throw',
        // Other cores are for what clients wait for.
        max_threads: 1,
      },
    })
    return [...cellRows(await buffer(stream), types)]
  })
}
