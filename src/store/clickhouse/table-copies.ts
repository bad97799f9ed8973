import type { Readable } from 'node:stream'
import { type ClickhouseOptions, connectClickhouse } from './connect.ts'
import { guardClickhouse } from './failure.ts'
import { insertSettings } from './insert-settings.ts'

/** A part of a table, as small as the server can name it. */
export type TablePart = { readonly table: string; readonly partition: string; readonly rows: number }

/** The tables as ClickHouse's Native format, for backups. */
export type TableCopies = {
  /** What there is to copy, by table and partition. No commit points: a copy has its own. */
  parts(): Promise<TablePart[]>
  read(part: Pick<TablePart, 'table' | 'partition'>): Promise<Readable>
  /** Idempotent, because rows are identified by their key and version. */
  write(table: string, rows: Readable): Promise<void>
  close(): Promise<void>
}

/** Commit points and the state of the schema are not copied as rows. */
const NOT_COPIED = ['migrations', 'migration_locks', 'markers', 'archive_markers', 'generations']
/** A large partition takes its time. */
const TIMEOUT_MS = 600_000

export function openTableCopies(options: ClickhouseOptions): TableCopies {
  // Our database need not exist yet.
  const client = connectClickhouse(options, 'default', TIMEOUT_MS)
  const qualified = (table: string): string => `\`${options.database}\`.\`${table}\``
  return {
    parts: () =>
      guardClickhouse(async () => {
        const answer = await client.query({
          query: `SELECT table, partition_id AS partition, toString(sum(rows)) AS row_count FROM system.parts
            WHERE database = {database:String} AND active AND table NOT IN {not_copied:Array(String)}
            GROUP BY table, partition_id HAVING sum(rows) > 0 ORDER BY table, partition_id`,
          query_params: { database: options.database, not_copied: NOT_COPIED },
          format: 'JSONEachRow',
        })
        const found = await answer.json<{ table: string; partition: string; row_count: string }>()
        return found.map(({ row_count, ...part }) => ({ ...part, rows: Number(row_count) }))
      }),
    read: ({ table, partition }) =>
      guardClickhouse(async () => {
        const { stream } = await client.exec({
          query: `SELECT * FROM ${qualified(table)} WHERE _partition_id = {partition:String} FORMAT Native`,
          query_params: { partition },
          // Otherwise an error in the middle of the rows would look like the end of them.
          clickhouse_settings: { wait_end_of_query: 1 },
        })
        return stream
      }),
    write: (table, rows) =>
      guardClickhouse(async () => {
        const { stream } = await client.exec({
          query: `INSERT INTO ${qualified(table)} FORMAT Native`,
          values: rows,
          clickhouse_settings: insertSettings(options.cluster),
        })
        // The empty response has to be consumed to release the connection.
        for await (const _ of stream);
      }),
    close: () => client.close(),
  }
}
