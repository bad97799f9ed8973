import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, rmSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { LogPosition } from '../../domain/log-position.ts'
import type { Logger } from '../../lib/logger.ts'
import { DATA_FILE, LOCK_FILE } from './open-file.ts'
import { listSnapshots, MANIFEST, unpackSnapshot } from './snapshot-files.ts'
import { openStateStore, readableFormats, type StateFormat, type StateStore } from './state-store.ts'
import { NOTHING_TO_COPY } from './take-snapshot.ts'

/** Its source in a clone, the compiled module in an installed package. */
const PROGRAM = fileURLToPath(new URL(`./take-snapshot${extname(import.meta.filename)}`, import.meta.url))

export type StateFolder = StateFormat & {
  readonly dir: string
  /** Where the snapshots of this state are, also those of other machines. */
  readonly snapshots: string
}

/**
 * Opens a state, or the newest snapshot that `fits` if that is further and the state is empty or `isTooOld`. A snapshot
 * that is damaged, or of another format or log, is passed over.
 */
export async function openNewestState(
  folder: StateFolder,
  isTooOld: (position: LogPosition) => Promise<boolean>,
  fits: (position: LogPosition) => Promise<boolean>,
  logger: Logger,
): Promise<StateStore> {
  const { dir, snapshots } = folder
  const store = openStateStore(folder)
  const { position } = store
  if (position !== undefined && !(await isTooOld(position))) return store
  const unpacked = join(dir, 'snapshot.mdb')
  for (const snapshot of listSnapshots(snapshots, ...readableFormats(folder))) {
    const seq = snapshot.position.sequence
    if (seq <= (position?.sequence ?? 0) || !(await fits(snapshot.position))) continue
    logger.info({ snapshot: snapshot.path, seq }, 'Unpacking snapshot')
    if (!(await unpackSnapshot(snapshot, unpacked))) {
      logger.error({ snapshot: snapshot.path }, 'Snapshot is damaged')
      continue
    }
    await store.close()
    rmSync(join(dir, LOCK_FILE), { force: true })
    renameSync(unpacked, join(dir, DATA_FILE))
    return openStateStore(folder)
  }
  return store
}

/**
 * Takes a snapshot in a process of its own, which can be killed at any time, unlike a copy within this process. False if
 * there is nothing to copy yet.
 */
export async function takeSnapshotOf({ dir, snapshots }: StateFolder, signal: AbortSignal): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, dir, snapshots], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  })
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (code === NOTHING_TO_COPY) return false
  if (code !== 0) throw new Error(`snapshot of ${dir} failed: ${stderr.slice(0, 1_000)}`)
  return true
}

/** When the newest snapshot of this state was taken, in milliseconds; 0 if there is none. */
export function lastSnapshotAt(folder: StateFolder): number {
  const [newest] = listSnapshots(folder.snapshots, ...readableFormats(folder))
  return newest === undefined
    ? 0
    : (statSync(`${newest.path}${MANIFEST}`, { throwIfNoEntry: false })?.mtimeMs ?? 0)
}
