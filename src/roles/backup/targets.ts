import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { changesLogOf, storedName } from '../../domain/generation.ts'
import { LOGS } from '../../domain/quarantine.ts'
import type { Common } from '../../lib/common.ts'
import type { Logs } from '../../log/connect.ts'
import { openTableCopies } from '../../store/clickhouse/table-copies.ts'
import { DATA_FILE } from '../../store/lmdb/open-file.ts'
import { openHotStore } from '../../store/redis/hot-store.ts'
import { stateFolder } from '../state-snapshots.ts'
import { LATEST_COPIED, STATE_ROLES } from './backup-files.ts'
import type { Manifest } from './manifest.ts'

/** What is restored: everything, or what one lost server held. */
export type Scope = 'all' | 'clickhouse' | 'keys'

/** Refuses to restore over data, and names what it found. */
export async function expectEmpty(
  scope: Scope,
  manifest: Manifest,
  config: Config,
  common: Common,
  logs: Logs,
): Promise<void> {
  const chains = Object.keys(manifest.chains)
  const stored = Object.entries(manifest.chains).map(([chain, { generation: number = 1 }]) =>
    storedName(chain, { number }),
  )
  const found: string[] = []
  if (scope !== 'keys') found.push(...(await filledTables(config)))
  if (scope === 'all') {
    found.push(...(await filledStreams(chains, logs)))
    found.push(...filledFolders([...new Set([...chains, ...stored])], config))
    found.push(...(await filledRedis(stored, config, common)))
  }
  if (found.length === 0) return
  throw new ChaintapeError('target_not_empty', `restore needs empty targets, but found ${found.join('; ')}`)
}

async function filledTables({ clickhouse }: Config): Promise<string[]> {
  const tables = openTableCopies(clickhouse)
  try {
    const rows = new Map<string, number>()
    for (const part of await tables.parts()) rows.set(part.table, (rows.get(part.table) ?? 0) + part.rows)
    return [...rows].map(
      ([table, count]) => `ClickHouse table ${clickhouse.database}.${table} (${count} rows)`,
    )
  } finally {
    await tables.close()
  }
}

async function filledStreams(chains: readonly string[], logs: Logs): Promise<string[]> {
  const found: string[] = []
  for (const name of LATEST_COPIED) {
    const copy = logs.openCopy(name)
    const { messages = 0 } = (await copy.summary()) ?? {}
    if (messages > 0) found.push(`NATS stream ${copy.stream} (${messages} messages)`)
  }
  for (const chain of chains) {
    for (const log of LOGS) {
      const copy = logs.openCopy(log, chain)
      const summary = await copy.summary()
      // Even an empty one has an epoch that the stores would not recognize.
      if (summary !== undefined) found.push(`NATS stream ${copy.stream} (${summary.messages} messages)`)
    }
  }
  return found
}

function filledFolders(chains: readonly string[], config: Config): string[] {
  const folders = STATE_ROLES.flatMap((role) => chains.map((chain) => stateFolder(config, role, chain, '')))
  const states = folders.map(({ dir }) => join(dir, DATA_FILE)).filter((file) => existsSync(file))
  const snapshots = folders
    .map((folder) => folder.snapshots)
    .filter((folder) => existsSync(folder) && readdirSync(folder).length > 0)
  return [...states, ...snapshots].map((path) => `state ${path}`)
}

async function filledRedis(chains: readonly string[], config: Config, common: Common): Promise<string[]> {
  const hot = await openHotStore(config.redis, common)
  try {
    const found: string[] = []
    for (const chain of chains) {
      const head = await hot.head(chain)
      if (head !== undefined) found.push(`Redis documents of ${chain} up to block ${head.number}`)
    }
    return found
  } finally {
    await hot.close()
  }
}

/** ClickHouse alone can be restored only while both logs still hold all that came after the backup. */
export async function expectContinued({ chains, created_at }: Manifest, logs: Logs): Promise<void> {
  for (const [chain, { marker, archived, changes, blocks, generation: number = 1 }] of Object.entries(
    chains,
  )) {
    const log = changesLogOf({ number })
    const needed = [
      { copy: logs.openCopy(log, chain), epoch: changes.epoch, after: marker?.position.sequence ?? 0 },
      { copy: logs.openCopy('BLOCKS', chain), epoch: blocks.epoch, after: archived?.sequence ?? 0 },
    ]
    for (const { copy, epoch, after } of needed) {
      const summary = await copy.summary()
      if (summary?.epoch === epoch && summary.first <= after + 1) continue
      const begins = summary?.epoch === epoch ? `begins at ${summary.first}` : 'is another log'
      throw new ChaintapeError(
        'log_truncated',
        `the backup of ${created_at} continues at ${after + 1} of ${copy.stream}, which ${begins}; use a newer backup, or empty all servers and restore everything`,
      )
    }
  }
}
