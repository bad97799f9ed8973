import { randomUUID } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Config } from '../../config/schema.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { changesLogOf, storedName } from '../../domain/generation.ts'
import type { Common } from '../../lib/common.ts'
import { scrub } from '../../lib/secrets.ts'
import { VERSION } from '../../lib/version.ts'
import { connectLogs, type Logs } from '../../log/connect.ts'
import type { Generations } from '../../log/generations.ts'
import { openBlockArchive } from '../../store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../../store/clickhouse/history-store.ts'
import { openTableCopies, type TableCopies } from '../../store/clickhouse/table-copies.ts'
import { DATA, MANIFEST } from '../../store/lmdb/snapshot-files.ts'
import { stateFolder } from '../state-snapshots.ts'
import { BackupFiles, LATEST_COPIED, type LatestCopied, latestFile, STATE_ROLES } from './backup-files.ts'
import { copyFrames, startOfCopy } from './copy-log.ts'
import { BACKUP_FORMAT, type ChainBackup, MANIFEST_FILE, type Manifest } from './manifest.ts'

export type Note = (line: string) => void

/**
 * Copies all that cannot be made again, and all that would take long, while the service runs. The tables are copied as they
 * change; CHANGES and BLOCKS from the commit points before the copy until after it make them exact, like after a crash.
 */
export async function backUp(
  config: Config,
  configFile: string | undefined,
  common: Common,
  target: string,
  note: Note,
): Promise<Manifest> {
  if (existsSync(target))
    throw new ChaintapeError('target_not_empty', `${target} exists; name a new directory`)
  const dir = `${target}.incomplete`
  await rm(dir, { recursive: true, force: true })
  // API keys are in it, though only as digests.
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const files = new BackupFiles(dir)
  await using resources = new AsyncDisposableStack()
  const logs = await connectLogs(config.nats, common)
  resources.defer(() => logs.close())
  const tables = openTableCopies(config.clickhouse)
  resources.defer(() => tables.close())

  const generations = await logs.generations()
  const starts = await startChains(config, common, logs, generations)
  const copied = Promise.withResolvers<void>()
  const copying = starts.map(async ({ chain, ...start }): Promise<[string, ChainBackup]> => {
    const changesFile = `logs/${chain}/changes.zst`
    const blocksFile = `logs/${chain}/blocks.zst`
    const changes = copyFrames(files, changesFile, start.changes, copied.promise)
    // BLOCKS ends after CHANGES does, because each change set was folded from a block before.
    const blocks = copyFrames(files, blocksFile, start.blocks, changes)
    const [blocksCopy, changesCopy] = await Promise.all([blocks, changes])
    const { archived, marker, generation } = start
    return [
      chain,
      {
        generation,
        blocks: blocksCopy,
        changes: changesCopy,
        ...(archived && { archived }),
        ...(marker && { marker }),
      },
    ]
  })
  // Awaited below; until then a failure must not count as unhandled.
  for (const each of copying) each.catch(() => undefined)
  try {
    for (const { chain, generation } of starts) await copySnapshots(config, chain, generation, files)
    await copyTables(tables, files, note)
  } finally {
    copied.resolve()
    await Promise.allSettled(copying)
  }
  const chains = Object.fromEntries(await Promise.all(copying))
  for (const [chain, { blocks, changes, marker }] of Object.entries(chains)) {
    note(
      `${chain}: block ${marker?.number ?? 'none'}, BLOCKS up to ${blocks.last}, CHANGES up to ${changes.last}`,
    )
  }
  for (const name of LATEST_COPIED) await copyLatest(logs, name, files)
  for (const { chain, generation } of starts) {
    if (generations.of(chain).serving.number === generation) continue
    throw new ChaintapeError('refold_refused', `a refold of ${chain} switched during the backup; repeat it`)
  }
  if (configFile !== undefined) {
    await files.add('chaintape.yaml', Readable.from([Buffer.from(scrub(readFileSync(configFile, 'utf8')))]))
  }
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    id: randomUUID(),
    version: VERSION,
    created_at: new Date().toISOString(),
    chains,
    files: files.written,
  }
  await writeDurably(join(dir, MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`)
  await rename(dir, target)
  return manifest
}

type ChainStart = Omit<ChainBackup, 'blocks' | 'changes' | 'generation'> & {
  readonly chain: string
  readonly generation: number
  readonly blocks: Awaited<ReturnType<typeof startOfCopy>>
  readonly changes: Awaited<ReturnType<typeof startOfCopy>>
}

/** The commit points are read before anything is copied: all that comes after them is copied from the logs. */
async function startChains(
  config: Config,
  common: Common,
  logs: Logs,
  generations: Generations,
): Promise<ChainStart[]> {
  const history = openHistoryStore(config.clickhouse, common)
  const archive = openBlockArchive(config.clickhouse)
  try {
    const starts: ChainStart[] = []
    for (const chain of Object.keys(config.chains)) {
      const generation = generations.of(chain).serving
      const blocks = logs.openCopy('BLOCKS', chain)
      const changes = logs.openCopy(changesLogOf(generation), chain)
      const epoch = (await blocks.summary())?.epoch
      // It has never run.
      if (epoch === undefined || (await changes.summary()) === undefined) continue
      const marker = await history.marker(storedName(chain, generation))
      const archived = await archive.end(chain, epoch)
      starts.push({
        ...{ chain, generation: generation.number },
        ...{ ...(archived && { archived }), ...(marker && { marker }) },
        blocks: await startOfCopy(blocks, archived),
        changes: await startOfCopy(changes, marker?.position),
      })
    }
    return starts
  } finally {
    await Promise.all([history.close(), archive.close()])
  }
}

async function copyTables(tables: TableCopies, files: BackupFiles, note: Note): Promise<void> {
  const rows = new Map<string, number>()
  for (const part of await tables.parts()) {
    const path = `clickhouse/${part.table}/${part.partition}.native.zst`
    await files.add(path, await tables.read(part), { compress: true })
    rows.set(part.table, (rows.get(part.table) ?? 0) + part.rows)
  }
  for (const [table, count] of rows) note(`${table}: ${count} rows`)
}

/** The newest snapshot of each role: two files, the manifest last. */
async function copySnapshots(
  config: Config,
  chain: string,
  generation: number,
  files: BackupFiles,
): Promise<void> {
  for (const role of STATE_ROLES) {
    const stored = role === 'engine' ? storedName(chain, { number: generation }) : chain
    const { snapshots } = stateFolder(config, role, stored, '')
    if (!existsSync(snapshots)) continue
    const [newest] = readdirSync(snapshots)
      .filter((name) => name.endsWith(MANIFEST))
      .sort()
      .reverse()
    if (newest === undefined) continue
    const name = newest.slice(0, -MANIFEST.length)
    for (const file of [`${name}${DATA}`, newest]) {
      await files.add(`snapshots/${role}/${stored}/${file}`, createReadStream(join(snapshots, file)))
    }
  }
}

async function copyLatest(logs: Logs, name: LatestCopied, files: BackupFiles): Promise<void> {
  const copy = logs.openCopy(name)
  const summary = await copy.summary()
  if (summary === undefined) return
  async function* lines(first: number, last: number): AsyncGenerator<Buffer> {
    for await (const { name: key, data } of copy.read(first, last)) {
      yield Buffer.from(`${JSON.stringify({ name: key, body: Buffer.from(data).toString('base64') })}\n`)
    }
  }
  const { first, last, messages } = summary
  const source = messages === 0 ? Readable.from([]) : Readable.from(lines(first, last), { objectMode: false })
  await files.add(latestFile(name), source, { compress: true })
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  await handle.writeFile(text)
  await handle.sync()
  await handle.close()
}
