import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import type { Logger } from '../../lib/logger.ts'
import { onCluster } from './cluster.ts'

/** Tables that are read in pages, latest first: small granules keep read amplification low. */
const PAGED_TABLES = ['trades', 'liquidity', 'candles'] as const
const GRANULARITY = 512

const MAX_ATTEMPTS = 10
const LOST_RACES = new Set(['TABLE_ALREADY_EXISTS', 'TABLE_IS_DROPPED', 'UNKNOWN_TABLE'])

const NO_DROP_LIMITS: ClickHouseSettings = { max_table_size_to_drop: '0', max_partition_size_to_drop: '0' }

type Options = {
  readonly client: ClickHouseClient
  readonly cluster: string | undefined
  readonly logger: Logger
}

/**
 * A table's granularity is fixed at creation, so the table is replaced: create a new one, attach the partitions (hard
 * links, no copies), exchange the two, drop the old one. Each step reads the current state of the tables and is
 * idempotent, so the next start completes an interrupted replacement. Parts keep their old granules until they are
 * merged.
 */
export async function setGranularity(options: Options): Promise<void> {
  for (const table of PAGED_TABLES) {
    const replacement = `${table}_g${GRANULARITY}`
    for (let attempt = 1; !(await isSet(options, table, replacement)); attempt++) {
      try {
        await replace(options, table, replacement)
      } catch (error) {
        // Another writer is doing the same.
        if (attempt === MAX_ATTEMPTS || !isLostRace(error)) throw error
      }
    }
  }
}

function isLostRace(error: unknown): boolean {
  return error instanceof ClickHouseError && LOST_RACES.has(error.type ?? '')
}

async function isSet({ client }: Options, table: string, replacement: string): Promise<boolean> {
  const engines = await readEngines(client, [table, replacement])
  return granularityOf(engines.get(table)) === GRANULARITY && !engines.has(replacement)
}

async function replace(options: Options, table: string, replacement: string): Promise<void> {
  const { client, cluster, logger } = options
  const on = onCluster(cluster)
  const run = (query: string) => client.command({ query, clickhouse_settings: NO_DROP_LIMITS })
  const attached = new Map<string, string>()
  const engine = (await readEngines(client, [table])).get(table) ?? ''
  if (granularityOf(engine) !== GRANULARITY) {
    await run(
      `CREATE TABLE IF NOT EXISTS ${replacement}${on} AS ${table} ENGINE = ${replacementEngine(engine, table, replacement)}`,
    )
    if (cluster !== undefined) await run(`SYSTEM SYNC REPLICA ${table}`)
    for (const [partition, lastBlock] of await readPartitions(client, table)) {
      await run(`ALTER TABLE ${replacement}${on} REPLACE PARTITION ID '${partition}' FROM ${table}`)
      attached.set(partition, lastBlock)
    }
    if (granularityOf((await readEngines(client, [table])).get(table)) !== GRANULARITY) {
      await run(`EXCHANGE TABLES ${table} AND ${replacement}${on}`)
    }
  }
  // From here on `replacement` is the old table. A writer of an older version may have added rows to it meanwhile.
  const engines = await readEngines(client, [table, replacement])
  if (granularityOf(engines.get(table)) !== GRANULARITY) return
  for (const [partition, lastBlock] of await readPartitions(client, replacement)) {
    if (attached.get(partition) === lastBlock) continue
    await run(`ALTER TABLE ${table}${on} ATTACH PARTITION ID '${partition}' FROM ${replacement}`)
  }
  await run(`DROP TABLE IF EXISTS ${replacement}${on} SYNC`)
  logger.info({ table, granularity: GRANULARITY, partitions: attached.size }, 'Table replaced')
}

/** The same engine with another granularity; a replicated one also needs its own path. */
export function replacementEngine(engine: string, table: string, replacement: string): string {
  return engine
    .replace(/\bindex_granularity = \d+/, `index_granularity = ${GRANULARITY}`)
    .replace(`/${table}'`, `/${replacement}'`)
}

function granularityOf(engine: string | undefined): number {
  return Number(/\bindex_granularity = (\d+)/.exec(engine ?? '')?.[1])
}

async function readEngines(
  client: ClickHouseClient,
  tables: readonly string[],
): Promise<Map<string, string>> {
  const answer = await client.query({
    query: `SELECT name, engine_full FROM system.tables
      WHERE database = currentDatabase() AND name IN {tables:Array(String)}`,
    query_params: { tables },
    format: 'JSONEachRow',
  })
  const rows = await answer.json<{ name: string; engine_full: string }>()
  return new Map(rows.map(({ name, engine_full }) => [name, engine_full]))
}

/** Partitions with their last block number, which grows when rows are added. */
async function readPartitions(client: ClickHouseClient, table: string): Promise<Map<string, string>> {
  const answer = await client.query({
    query: `SELECT partition_id, toString(max(max_block_number)) AS last_block FROM system.parts
      WHERE database = currentDatabase() AND table = {table:String} AND active GROUP BY partition_id`,
    query_params: { table },
    format: 'JSONEachRow',
  })
  const rows = await answer.json<{ partition_id: string; last_block: string }>()
  return new Map(rows.map(({ partition_id, last_block }) => [partition_id, last_block]))
}
