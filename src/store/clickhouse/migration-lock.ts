import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from '../../lib/logger.ts'
import { forCluster } from './cluster.ts'
import { insertSettings } from './insert-settings.ts'

const LOCK_TABLE = `
  CREATE TABLE IF NOT EXISTS migration_locks
  (
    holder String COMMENT 'Random id of a process that migrates, or waits to',
    version UInt64 COMMENT 'Counts its renewals',
    until DateTime64(3, 'UTC') COMMENT 'When the lock expires unless renewed; the past once released'
  )
  ENGINE = ReplacingMergeTree(version) ORDER BY holder
  SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
  COMMENT 'Which process changes the schema'`

/** A process that dies holds up the next one for this long. */
const HELD_MS = 15_000
const RENEW_MS = 5_000
const POLL_MS = 100

export type LockParts = {
  readonly client: ClickHouseClient
  readonly cluster: string | undefined
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Runs `work` while no other process does. ClickHouse has no locks: a process inserts its row, then looks for others.
 * Of two that insert at once, the later one sees the earlier one's row; if both see each other, both withdraw and retry.
 * A holder that was stopped for longer than its lock may work beside the next one, so `work` has to be idempotent.
 */
export async function withMigrationLock(
  { client, cluster, logger, signal }: LockParts,
  work: () => Promise<void>,
): Promise<void> {
  await client.command({ query: forCluster(LOCK_TABLE, cluster) })
  const holder = randomUUID()
  let version = 0
  /** By the clock of the server, which all processes share. */
  const hold = async (ms: number): Promise<void> => {
    version++
    await client.command({
      query: `INSERT INTO migration_locks (holder, version, until)
        SELECT {holder:String}, {version:UInt64}, now64(3, 'UTC') + toIntervalMillisecond({ms:UInt32})`,
      query_params: { holder, version, ms },
      clickhouse_settings: insertSettings(cluster),
    })
  }
  const isHeldByOther = async (): Promise<boolean> => {
    const answer = await client.query({
      query: `SELECT holder FROM migration_locks FINAL
        WHERE holder != {holder:String} AND until > now64(3, 'UTC') LIMIT 1`,
      query_params: { holder },
      format: 'JSONEachRow',
      ...(cluster !== undefined && { clickhouse_settings: { select_sequential_consistency: '1' } }),
    })
    return (await answer.json()).length > 0
  }

  let isLogged = false
  for (;;) {
    if (!(await isHeldByOther())) {
      await hold(HELD_MS)
      if (!(await isHeldByOther())) break
      await hold(0)
    }
    if (!isLogged) logger.info('Waiting for another process that migrates the schema')
    isLogged = true
    await sleep(POLL_MS * (1 + Math.random()), undefined, { signal })
  }
  // A failed renewal is repeated; if it never succeeds, the lock expires, which is safe.
  const renewal = setInterval(() => void hold(HELD_MS).catch(() => undefined), RENEW_MS)
  try {
    await work()
  } finally {
    clearInterval(renewal)
    await hold(0).catch(() => undefined)
  }
}
