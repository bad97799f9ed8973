import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import type { ChainHead } from '../../domain/chain-head.ts'
import type { ChangeSet } from '../../domain/change.ts'
import type { Common } from '../../lib/common.ts'
import { type ClickhouseOptions, connectClickhouse } from './connect.ts'
import { guardClickhouse } from './failure.ts'
import { rowsOf, type TableRows } from './rows.ts'
import type { TableName } from './tables.ts'

export type WrittenRows = Readonly<Record<TableName, number>>

export type HistoryStore = {
  /** How far the chain is written; undefined before its first batch. */
  marker(chain: string): Promise<ChainHead | undefined>
  /** Data rows only. May be repeated: a row is known by its natural key and seq. */
  write(sets: readonly ChangeSet[]): Promise<WrittenRows>
  /** The commit point: vouches that everything up to this head was written before. */
  commit(head: ChainHead): Promise<void>
  close(): Promise<void>
}

type MarkerRow = {
  readonly chain: string
  readonly seq: string
  readonly number: string
  readonly hash: string
  readonly unix_time: string
  readonly final_number: string
  readonly log_epoch: string
  readonly log_seq: string
  readonly log_link: string
}

const INSERT_SETTINGS: ClickHouseSettings = {
  // An answer means that the rows are in the table, not in a buffer.
  async_insert: 0,
  // Rows are told apart by key and seq; the server's own memory of recent blocks would only hide a replay.
  insert_deduplicate: 0,
  input_format_null_as_default: 1,
  // A batch that spans many months is slow but right.
  throw_on_max_partitions_per_insert_block: 0,
}

const MARKER_QUERY = `
  SELECT chain, toString(seq) AS seq, toString(number) AS number, hash,
    toString(toUnixTimestamp(time)) AS unix_time, toString(final_number) AS final_number,
    log_epoch, toString(log_seq) AS log_seq, toString(log_link) AS log_link
  FROM markers FINAL
  WHERE chain = {chain:String}`

export function openHistoryStore(options: ClickhouseOptions, common: Common): HistoryStore {
  const logger = common.logger.child({ action: 'history' })
  const client = connectClickhouse(options)
  return {
    marker: (chain) => readMarker(client, chain),
    write: async (sets) => {
      const tables = rowsOf(sets)
      await settleAll(tables.map((rows) => insertRows(client, rows)))
      const written = { trades: 0, candles: 0, pairs: 0, tokens: 0 }
      for (const { table, rows } of tables) written[table] = rows.length
      logger.debug({ sets: sets.length, ...written }, 'Rows written')
      return written
    },
    commit: (head) => insertMarker(client, head),
    close: () => client.close(),
  }
}

async function readMarker(client: ClickHouseClient, chain: string): Promise<ChainHead | undefined> {
  const [row] = await guardClickhouse(async () => {
    const answer = await client.query({
      query: MARKER_QUERY,
      query_params: { chain },
      format: 'JSONEachRow',
    })
    return answer.json<MarkerRow>()
  })
  if (row === undefined) return undefined
  return {
    chain: row.chain,
    seq: Number(row.seq),
    number: Number(row.number),
    hash: row.hash,
    time: Number(row.unix_time),
    finalNumber: Number(row.final_number),
    position: { epoch: row.log_epoch, seq: Number(row.log_seq), link: Number(row.log_link) },
  }
}

async function insertRows(client: ClickHouseClient, { table, columns, rows }: TableRows): Promise<void> {
  await guardClickhouse(() =>
    client.insert({
      table,
      columns: columns as [string, ...string[]],
      format: 'JSONCompactEachRow',
      values: rows,
      clickhouse_settings: INSERT_SETTINGS,
    }),
  )
}

async function insertMarker(client: ClickHouseClient, head: ChainHead): Promise<void> {
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
          time: String(head.time).padStart(10, '0'),
          final_number: head.finalNumber,
          log_epoch: head.position.epoch,
          log_seq: head.position.seq,
          log_link: head.position.link,
        },
      ],
      clickhouse_settings: INSERT_SETTINGS,
    }),
  )
}

/** Waits for all, even after a failure: a retry must not run beside what is left of the attempt before. */
async function settleAll(inserts: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(inserts)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
