import type { ClickHouseClient } from '@clickhouse/client'
import type { Config } from '../../config/schema.ts'
import type { Common } from '../../lib/common.ts'
import { clickhouseServer, natsServer, redisServer } from '../../lib/waiting.ts'
import { probeNats } from '../../log/probe.ts'
import { connectClickhouse } from '../../store/clickhouse/connect.ts'
import { connectRedis } from '../../store/redis/connect.ts'
import { type Finding, note, ok, problem } from './finding.ts'
import { checkNatsVersion } from './nats-version.ts'

const TIMEOUT_MS = 5_000
const MONITOR_TIMEOUT_MS = 1_000
const HEADER_ROOM_BYTES = 1_024
const MAX_CLOCK_DIFFERENCE_MS = 2_000
const MIN_FREE_BYTES = 20 * 1024 ** 3

export async function checkNats({ nats }: Config): Promise<Finding[]> {
  const about = 'NATS'
  const { address } = natsServer(nats.urls)
  try {
    const { version, isCluster, maxPayload, storedBytes } = await probeNats(nats)
    const findings = [checkNatsVersion(version, address, isCluster)]
    if (storedBytes === undefined)
      findings.push(
        problem(
          about,
          'JetStream does not answer',
          'Start nats-server with JetStream (deploy/nats/chaintape.conf), or allow this user $JS.API.INFO.',
        ),
      )
    else findings.push(ok(about, `JetStream stores ${gigabytes(storedBytes)}`))
    if (maxPayload < nats.max_frame_bytes + HEADER_ROOM_BYTES)
      findings.push(
        note(
          about,
          `max_payload is ${maxPayload}`,
          'Frames are made smaller than nats.max_frame_bytes; raise max_payload.',
        ),
      )
    return [...findings, await checkSync(nats.urls[0] ?? '')]
  } catch (error) {
    return [
      problem(
        about,
        `${address}: ${textOf(error)}`,
        'Start nats-server, or correct nats.urls and its credentials.',
      ),
    ]
  }
}

/** Only the monitoring port says whether an acknowledged message is on disk. */
async function checkSync(url: string): Promise<Finding> {
  const about = 'NATS'
  const advice = 'Set jetstream { sync_interval: always }, or a power cut loses acknowledged messages.'
  try {
    const host = new URL(url).hostname
    const signal = AbortSignal.timeout(MONITOR_TIMEOUT_MS)
    const answer = await fetch(`http://${host}:8222/jsz?config=true`, { signal })
    const { config } = (await answer.json()) as { config?: { sync_always?: boolean } }
    return config?.sync_always === true
      ? ok(about, 'sync_interval is always')
      : problem(about, 'sync_interval is not always', advice)
  } catch {
    return note(about, 'sync_interval is not known: no monitoring at port 8222', advice)
  }
}

export async function checkRedis({ redis: { url, ...files } }: Config, common: Common): Promise<Finding[]> {
  const about = 'Redis'
  const { address } = redisServer(url)
  try {
    const redis = await connectRedis({ url, ...files, commandTimeoutMs: TIMEOUT_MS }, common)
    try {
      const info = await redis.info('server')
      const version = /^(?:valkey|redis)_version:(.*)$/m.exec(info)?.[1]?.trim() ?? 'unknown'
      const findings = [ok(about, `version ${version} at ${address}`)]
      const policy = await redis.config('GET', 'maxmemory-policy').then(
        (answer) => String((answer as string[])[1]),
        () => undefined,
      )
      if (policy === undefined)
        findings.push(
          note(
            about,
            'maxmemory-policy is not known: CONFIG is not allowed',
            'It must be noeviction or volatile-lru.',
          ),
        )
      else if (policy.startsWith('allkeys'))
        findings.push(
          problem(
            about,
            `maxmemory-policy is ${policy}`,
            'Set volatile-lru or noeviction: keys of documents must stay.',
          ),
        )
      else findings.push(ok(about, `maxmemory-policy is ${policy}`))
      return findings
    } finally {
      redis.disconnect()
    }
  } catch (error) {
    return [problem(about, `${address}: ${textOf(error)}`, 'Start Redis or Valkey, or correct redis.url.')]
  }
}

export async function checkClickhouse({ clickhouse }: Config): Promise<Finding[]> {
  const about = 'ClickHouse'
  const { address } = clickhouseServer(clickhouse.url)
  const client = connectClickhouse(clickhouse, 'default', TIMEOUT_MS)
  try {
    const query = `
      SELECT version() AS version, toUnixTimestamp64Milli(now64(3)) AS now, min(free_space) AS free,
        countIf(type = 'Local' AND keep_free_space = 0) AS unguarded
      FROM system.disks`
    const before = Date.now()
    const answer = await client.query({ query, format: 'JSONEachRow' })
    const [row] = await answer.json<{ version: string; now: string; free: string; unguarded: string }>()
    const difference = Number(row?.now) - (before + Date.now()) / 2
    const findings = [ok(about, `version ${row?.version} at ${address}`)]
    if (Math.abs(difference) > MAX_CLOCK_DIFFERENCE_MS)
      findings.push(
        note(
          about,
          `its clock differs by ${(difference / 1_000).toFixed(1)} s`,
          'Synchronize the clocks (NTP).',
        ),
      )
    const free = Number(row?.free)
    if (free < MIN_FREE_BYTES)
      findings.push(
        note(
          about,
          `${gigabytes(free)} free`,
          'Add disk, or set `clickhouse.retention_days` (docs/operations.md).',
        ),
      )
    else findings.push(ok(about, `${gigabytes(free)} free`))
    if (Number(row?.unguarded) > 0)
      findings.push(
        note(
          about,
          'it uses its disk to the last byte, which can damage its data',
          'Set `keep_free_space_bytes` (deploy/clickhouse/full-disk.xml).',
        ),
      )
    return [...findings, ...(await checkParts(client, clickhouse.database))]
  } catch (error) {
    return [
      problem(
        about,
        `${address}: ${textOf(error)}`,
        'Start ClickHouse, or correct `clickhouse.url`, `username` and `password`.',
      ),
    ]
  } finally {
    await client.close()
  }
}

/** Parts whose files are damaged: found by a query since the server was started, or left out by it at its start. */
async function checkParts(client: ClickHouseClient, database: string): Promise<Finding[]> {
  const about = 'ClickHouse'
  const query = `
    SELECT
      (SELECT sum(value) FROM system.errors WHERE name = 'CORRUPTED_DATA') AS found,
      arraySort(groupUniqArray(table)) AS tables
    FROM system.detached_parts WHERE database = {database:String} AND reason LIKE 'broken%'`
  const answer = await client.query({ query, query_params: { database }, format: 'JSONEachRow' })
  const [row] = await answer.json<{ found: string; tables: readonly string[] }>()
  const findings: Finding[] = []
  if (Number(row?.found) > 0)
    findings.push(
      problem(
        about,
        'it has found corrupted data since it was started',
        'If its disk was full, make room and restart it soon (docs/operations.md, "Full disks").',
      ),
    )
  if (row !== undefined && row.tables.length > 0)
    findings.push(
      note(
        about,
        `damaged parts were left out at a start: ${row.tables.join(', ')}`,
        'If that start was late, rows are missing (docs/operations.md, "Full disks"). Otherwise remove them: ALTER TABLE … DROP DETACHED PART.',
      ),
    )
  return findings
}

export function gigabytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${cause}`
}
