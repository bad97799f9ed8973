import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { mkdir, open as openFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { open, type RootDatabase } from 'lmdb'
import { DATA_FILE, needsConversion } from './open-file.ts'
import { DATA, hashing, listSnapshots, MANIFEST } from './snapshot-files.ts'
import { describeState } from './state-store.ts'

/** Exit code of this program. */
export const NOTHING_TO_COPY = 3
const KEPT = 2
const SCRATCH = '.taking-'
const ABANDONED_MS = 86_400_000

/**
 * Copies the state in `dir` as of its last commit into `folder`, while another process uses it, and keeps two copies.
 * False if nothing was committed yet.
 */
export async function takeSnapshot(dir: string, folder: string): Promise<boolean> {
  if (needsConversion(dir)) throw new Error(`${dir} was written by an earlier version; start its role first`)
  removeAbandoned(folder)
  // Several engines may share the folder.
  const scratch = join(folder, `${SCRATCH}${randomUUID()}`)
  await mkdir(scratch, { recursive: true })
  try {
    const copy = join(scratch, DATA_FILE)
    await withState(dir, (root) => root.backup(scratch, true))
    // Read from the copy: the state may have been committed again since it was begun.
    const { format, position } = await withState(scratch, describeState)
    if (format === undefined || position === undefined) return false
    const hash = createHash('sha256')
    const packed = join(scratch, 'packed')
    await pipeline(
      createReadStream(copy),
      createZstdCompress(),
      hashing(hash),
      createWriteStream(packed, { flush: true }),
    )
    const name = join(folder, String(position.seq).padStart(16, '0'))
    await rename(packed, `${name}${DATA}`)
    const manifest = join(scratch, 'manifest')
    await writeDurably(manifest, JSON.stringify({ format, position, sha256: hash.digest('hex') }))
    await rename(manifest, `${name}${MANIFEST}`)
    for (const { path } of listSnapshots(folder, format).slice(KEPT)) {
      await rm(`${path}${MANIFEST}`, { force: true })
      await rm(`${path}${DATA}`, { force: true })
    }
    return true
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Left by processes that were killed. */
function removeAbandoned(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder).filter((each) => each.startsWith(SCRATCH))) {
    const path = join(folder, name)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > ABANDONED_MS) rmSync(path, { recursive: true, force: true })
  }
}

async function withState<T>(dir: string, work: (root: RootDatabase) => T | Promise<T>): Promise<T> {
  const root = open({ path: dir, readOnly: true, maxDbs: 2 })
  try {
    return await work(root)
  } finally {
    await root.close()
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await openFile(file, 'w')
  await handle.writeFile(text)
  await handle.sync()
  await handle.close()
}

const [dir, folder] = process.argv.slice(2)
if (import.meta.main && dir !== undefined && folder !== undefined) {
  process.exitCode = (await takeSnapshot(dir, folder)) ? 0 : NOTHING_TO_COPY
}
