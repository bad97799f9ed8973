import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Common } from '../../lib/common.ts'
import { forCluster } from './cluster.ts'
import { type ClickhouseOptions, connectClickhouse } from './connect.ts'
import { guardClickhouse } from './failure.ts'
import { setGranularity } from './granularity.ts'
import { withMigrationLock } from './migration-lock.ts'
import { type Retention, retentionStatements } from './retention.ts'

export type MigrateOptions = ClickhouseOptions & { readonly retention_days?: Retention | undefined }

type Migration = { readonly name: string; readonly sql: string; readonly checksum: string }

const FOLDER = new URL('./migrations/', import.meta.url)
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/

const RECORD_TABLE = `
  CREATE TABLE IF NOT EXISTS migrations
  (
    name String COMMENT 'Name of the file',
    checksum String COMMENT 'SHA-256 of its text when it was run',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When it was run'
  )
  ENGINE = ReplacingMergeTree ORDER BY name
  SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
  COMMENT 'Which changes of the schema were made'`

/**
 * Brings the schema up to date: creates the database, then runs all pending files of migrations/ in order. A file is
 * one idempotent statement, because a crash can come before it is recorded; files that have run are never edited. They
 * only add, because a writer and gateways of an earlier version may still run; one process at a time runs them.
 * Granularity and retention are compared with the tables at every start.
 */
export async function migrate(options: MigrateOptions, common: Common): Promise<void> {
  const { cluster, database, retention_days = {} } = options
  const logger = common.logger.child({ action: 'migrate' })
  await withClient(connectClickhouse(options, 'default'), (client) =>
    client.command({ query: forCluster(`CREATE DATABASE IF NOT EXISTS \`${database}\``, cluster) }),
  )
  await withClient(connectClickhouse(options), async (client) => {
    await client.command({ query: forCluster(RECORD_TABLE, cluster) })
    if ((await readPending(client, database)).length > 0) {
      const { signal } = common.shutdown
      await withMigrationLock({ client, cluster, logger, signal }, async () => {
        // Read again: the process that held the lock before has run them.
        for (const migration of await readPending(client, database)) {
          await client.command({ query: forCluster(migration.sql, cluster) })
          await client.insert({
            table: 'migrations',
            columns: ['name', 'checksum'],
            format: 'JSONCompactEachRow',
            values: [[migration.name, migration.checksum]],
          })
          logger.info({ migration: migration.name, database }, 'Schema migrated')
        }
      })
    }
    await setGranularity({ client, cluster, logger })
    for (const { table, sql } of retentionStatements(retention_days, await readEngines(client, database))) {
      await client.command({ query: forCluster(sql, cluster) })
      logger.info({ table, statement: sql, database }, 'Retention changed')
    }
  })
}

async function withClient<T>(
  client: ClickHouseClient,
  work: (client: ClickHouseClient) => Promise<T>,
): Promise<T> {
  try {
    return await guardClickhouse(() => work(client))
  } finally {
    await client.close()
  }
}

async function readApplied(client: ClickHouseClient): Promise<Map<string, string>> {
  const answer = await client.query({
    query: 'SELECT name, checksum FROM migrations FINAL',
    format: 'JSONEachRow',
  })
  const rows = await answer.json<{ name: string; checksum: string }>()
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/**
 * Migrations that have not run yet. Those that this version does not have are of a later version, which only adds to the
 * schema, so they are no reason to stop.
 */
async function readPending(client: ClickHouseClient, database: string): Promise<Migration[]> {
  const applied = await readApplied(client)
  const migrations = await readMigrations()
  for (const { name, checksum } of migrations) {
    if ((applied.get(name) ?? checksum) === checksum) continue
    throw new ChaintapeError('diverged', `migration ${name} was changed after it ran on database ${database}`)
  }
  return migrations.filter(({ name }) => !applied.has(name))
}

/** Engine clause of each table, including its TTL. */
async function readEngines(client: ClickHouseClient, database: string): Promise<Map<string, string>> {
  const answer = await client.query({
    query: 'SELECT name, engine_full FROM system.tables WHERE database = {database:String}',
    query_params: { database },
    format: 'JSONEachRow',
  })
  const rows = await answer.json<{ name: string; engine_full: string }>()
  return new Map(rows.map(({ name, engine_full }) => [name, engine_full]))
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => FILE_NAME.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, FOLDER), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
