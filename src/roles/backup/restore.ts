import { createReadStream, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { copyFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream'
import { createZstdDecompress, type ZstdDecompress } from 'node:zlib'
import type { Config } from '../../config/schema.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { changesLogOf } from '../../domain/generation.ts'
import type { Common } from '../../lib/common.ts'
import { connectLogs, type Logs } from '../../log/connect.ts'
import type { StreamCopy } from '../../log/stream-copy.ts'
import { openBlockArchive } from '../../store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../../store/clickhouse/history-store.ts'
import { migrate } from '../../store/clickhouse/migrate.ts'
import { openTableCopies } from '../../store/clickhouse/table-copies.ts'
import { stateFolder } from '../state-snapshots.ts'
import type { Note } from './backup.ts'
import { LATEST_COPIED, latestFile } from './backup-files.ts'
import { type ChainBackup, type Manifest, readManifest, verifyFiles } from './manifest.ts'
import { decodeRecords } from './records.ts'
import { expectContinued, expectEmpty, type Scope } from './targets.ts'

type Parts = {
  readonly dir: string
  readonly manifest: Manifest
  readonly config: Config
  readonly common: Common
  readonly logs: Logs
  readonly progress: Progress
  readonly note: Note
}

/** Fills empty servers from a backup. Commit points come last, so an interrupted restore is never taken for a complete one. */
export async function restore(
  config: Config,
  common: Common,
  dir: string,
  scope: Scope,
  note: Note,
): Promise<Manifest> {
  const manifest = readManifest(dir)
  const unknown = Object.keys(manifest.chains).filter((chain) => !Object.hasOwn(config.chains, chain))
  if (unknown.length > 0) {
    throw new ChaintapeError(
      'config_invalid',
      `the backup has chains that are not configured: ${unknown.join(', ')}`,
    )
  }
  await verifyFiles(dir, manifest)
  note(`${manifest.files.length} files verified`)
  await using resources = new AsyncDisposableStack()
  const logs = await connectLogs(config.nats, common)
  resources.defer(() => logs.close())
  const progress = await Progress.open(config.data_dir, manifest.id, scope)
  if (scope === 'clickhouse') await expectContinued(manifest, logs)
  if (!progress.isContinued) await expectEmpty(scope, manifest, config, common, logs)
  const parts: Parts = { dir, manifest, config, common, logs, progress, note }
  await progress.begin()
  if (scope !== 'keys') await restoreTables(parts)
  if (scope === 'all') {
    await restoreSnapshots(parts)
    await restoreLogs(parts)
  }
  if (scope !== 'clickhouse') await restoreLatest(parts)
  if (scope !== 'keys') await commitAll(parts)
  await progress.end()
  return manifest
}

/** Remembers which files are restored, next to the states of this machine's roles, until all of them are. */
class Progress {
  readonly #file: string
  readonly #key: string
  readonly #done: Set<string>
  readonly isContinued: boolean

  private constructor(file: string, key: string, done: readonly string[] | undefined) {
    this.#file = file
    this.#key = key
    this.#done = new Set(done)
    this.isContinued = done !== undefined
  }

  static async open(dataDir: string, id: string, scope: Scope): Promise<Progress> {
    const file = join(dataDir, 'restore.json')
    const key = `${id} ${scope}`
    if (!existsSync(file)) return new Progress(file, key, undefined)
    const found = JSON.parse(readFileSync(file, 'utf8')) as { key: string; done: string[] }
    if (found.key === key) return new Progress(file, key, found.done)
    throw new ChaintapeError(
      'target_not_empty',
      `${file} is of another restore that was interrupted; repeat that one, or empty the servers and delete the file`,
    )
  }

  has(file: string): boolean {
    return this.#done.has(file)
  }

  begin(): Promise<void> {
    return this.#save()
  }

  async add(file: string): Promise<void> {
    this.#done.add(file)
    await this.#save()
  }

  async end(): Promise<void> {
    await rm(this.#file, { force: true })
  }

  async #save(): Promise<void> {
    mkdirSync(dirname(this.#file), { recursive: true })
    await writeFile(`${this.#file}.new`, JSON.stringify({ key: this.#key, done: [...this.#done] }), {
      flush: true,
    })
    await rename(`${this.#file}.new`, this.#file)
  }
}

async function restoreTables({ dir, manifest, config, common, progress, note }: Parts): Promise<void> {
  await migrate(config.clickhouse, common)
  const tables = openTableCopies(config.clickhouse)
  try {
    for (const { path } of manifest.files) {
      const [folder, table] = path.split('/')
      if (folder !== 'clickhouse' || table === undefined || progress.has(path)) continue
      await tables.write(table, unpack(join(dir, path)))
      await progress.add(path)
    }
  } finally {
    await tables.close()
  }
  note('ClickHouse: all tables restored')
}

async function restoreSnapshots({ dir, manifest, config }: Parts): Promise<void> {
  for (const { path } of manifest.files) {
    const [folder, role, chain] = path.split('/')
    if (folder !== 'snapshots' || chain === undefined || (role !== 'engine' && role !== 'reader')) continue
    const { snapshots } = stateFolder(config, role, chain, '')
    const file = join(snapshots, basename(path))
    mkdirSync(snapshots, { recursive: true })
    await copyFile(join(dir, path), `${file}.new`)
    await rename(`${file}.new`, file)
  }
}

async function restoreLogs({ dir, manifest, logs, note }: Parts): Promise<void> {
  const refill = async (copy: StreamCopy, { epoch, first, file }: ChainBackup['blocks']) =>
    copy.refill(epoch, first, decodeRecords(unpack(join(dir, file))))
  for (const [chain, { blocks, changes, generation: number = 1 }] of Object.entries(manifest.chains)) {
    await refill(logs.openCopy('BLOCKS', chain), blocks)
    await refill(logs.openCopy(changesLogOf({ number }), chain, number), changes)
    note(`${chain}: BLOCKS restored up to ${blocks.last}, CHANGES up to ${changes.last}`)
  }
}

/** A value that is there already is newer than the backup. */
async function restoreLatest({ dir, manifest, logs, note }: Parts): Promise<void> {
  for (const name of LATEST_COPIED) {
    const path = latestFile(name)
    if (!manifest.files.some((file) => file.path === path)) continue
    const values = await logs.openLatest(name)
    let count = 0
    for await (const line of createInterface({ input: unpack(join(dir, path)) })) {
      const { name: key, body } = JSON.parse(line) as { name: string; body: string }
      if (await values.put(key, Buffer.from(body, 'base64'), 0)) count++
    }
    note(`${name}: ${count} restored`)
  }
}

async function commitAll({ manifest, config, common }: Parts): Promise<void> {
  const history = openHistoryStore(config.clickhouse, common)
  const archive = openBlockArchive(config.clickhouse)
  try {
    for (const [chain, { archived, marker }] of Object.entries(manifest.chains)) {
      if (archived !== undefined) await archive.commit(chain, archived)
      if (marker === undefined) continue
      const { startTime, ...head } = marker
      await history.commit(startTime === undefined ? head : { ...head, startTime })
    }
  } finally {
    await Promise.all([history.close(), archive.close()])
  }
}

function unpack(file: string): ZstdDecompress {
  // A failure destroys the stream, which its reader then reports.
  return pipeline(createReadStream(file), createZstdDecompress(), () => undefined)
}
