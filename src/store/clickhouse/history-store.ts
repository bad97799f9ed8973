import { Readable } from 'node:stream'
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import type { ChainHead } from '../../domain/chain-head.ts'
import type { Common } from '../../lib/common.ts'
import { type ClickhouseOptions, connectClickhouse } from './connect.ts'
import { guardClickhouse } from './failure.ts'
import { insertSettings } from './insert-settings.ts'
import { createAsk } from './read/ask.ts'
import { readMarker } from './read/marker.ts'
import { text } from './read/records.ts'
import { removeRows } from './remove-rows.ts'
import type { TableRows } from './rows.ts'
import { TABLE_NAMES, type TableName } from './table-names.ts'

/** It reads one row. */
const MAX_SECONDS = 2

export type WrittenRows = Readonly<Record<TableName, number>>

export type HistoryStore = {
  /** The chain's last committed head; undefined before the first batch. */
  marker(chain: string): Promise<ChainHead | undefined>
  /** Data rows only, as built by `rowsOf`. Idempotent: rows are identified by natural key and seq. */
  write(tables: readonly TableRows[]): Promise<WrittenRows>
  /** The commit point: everything up to this head has been written. */
  commit(head: ChainHead): Promise<void>
  /** The saved copy of the chain's entry in GENERATIONS. */
  generations(chain: string): Promise<string | undefined>
  saveGenerations(chain: string, entry: string): Promise<void>
  /** Removes all rows of a chain, its commit point last. The archive of BLOCKS stays. */
  remove(chain: string): Promise<void>
  close(): Promise<void>
}

export function openHistoryStore(options: ClickhouseOptions, common: Common): HistoryStore {
  const logger = common.logger.child({ action: 'history' })
  const client = connectClickhouse(options)
  const ask = createAsk(client)
  const settings = insertSettings(options.cluster)
  return {
    marker: (chain) => readMarker(ask, chain),
    write: async (tables) => {
      await settleAll(tables.map((rows) => insertRows(client, settings, rows)))
      const written = Object.fromEntries(TABLE_NAMES.map((name) => [name, 0])) as Record<TableName, number>
      for (const { table, count } of tables) written[table] = count
      logger.debug(written, 'Rows written')
      return written
    },
    commit: (head) => insertMarker(client, settings, head),
    generations: async (chain) => {
      const [row] = await ask('generations', { params: { chain }, maxRows: 1, maxSeconds: MAX_SECONDS })
      return row && text(row, 'entry')
    },
    saveGenerations: (chain, entry) =>
      guardClickhouse(async () => {
        await client.insert({
          ...{ table: 'generations', format: 'JSONEachRow', values: [{ chain, entry }] },
          clickhouse_settings: settings,
        })
      }),
    remove: (chain) => removeRows(client, chain),
    close: () => client.close(),
  }
}

async function insertRows(
  client: ClickHouseClient,
  clickhouse_settings: ClickHouseSettings,
  { table, columns, chunks }: TableRows,
): Promise<void> {
  await guardClickhouse(async () => {
    // The client's own `insert` does not support binary formats.
    const { stream } = await client.exec({
      query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT RowBinary`,
      values: Readable.from(chunks, { objectMode: false }),
      clickhouse_settings,
    })
    // The empty response has to be consumed to release the connection.
    for await (const _ of stream);
  })
}

async function insertMarker(
  client: ClickHouseClient,
  clickhouse_settings: ClickHouseSettings,
  head: ChainHead,
): Promise<void> {
  await guardClickhouse(() =>
    client.insert({
      table: 'markers',
      format: 'JSONEachRow',
      values: [
        {
          chain: head.chain,
          seq: head.seq,
          number: head.number,
          hash: head.hash,
          time: secondsText(head.time),
          start_time: head.startTime === undefined ? null : secondsText(head.startTime),
          final_number: head.finalNumber,
          log_epoch: head.position.epoch,
          log_seq: head.position.sequence,
          log_link: head.position.link,
        },
      ],
      clickhouse_settings,
    }),
  )
}

/** Waits for all inserts even after a failure, so that a retry never overlaps with the previous attempt. */
async function settleAll(inserts: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(inserts)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** Padded to ten digits, because the server would parse four digits as a year. */
function secondsText(seconds: number): string {
  return String(seconds).padStart(10, '0')
}
