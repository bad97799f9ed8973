/** node convert-file.ts <folder> <names of its databases...>: copies all entries of an LMDB file into a new one. */
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { DATA_FILE, LOCK_FILE } from './open-file.ts'

const BATCH = 10_000

/** Only reads the old file, which is replaced at the end: it can be interrupted and repeated. */
export async function convertFile(dir: string, names: readonly string[]): Promise<void> {
  const made = join(dir, 'converted')
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made)
  const from = open({ path: dir, readOnly: true, maxDbs: names.length })
  const to = open({ path: made, maxDbs: names.length })
  for (const name of names) copy(from, to, name)
  await to.flushed
  await Promise.all([from.close(), to.close()])
  renameSync(join(made, DATA_FILE), join(dir, DATA_FILE))
  rmSync(join(dir, LOCK_FILE), { force: true })
  rmSync(made, { recursive: true })
}

function copy(from: RootDatabase, to: RootDatabase, name: string): void {
  const raw = { name, encoding: 'binary', keyEncoding: 'binary' } as const
  const [source, target] = [from.openDB<Buffer, Buffer>(raw), to.openDB<Buffer, Buffer>(raw)]
  let batch: (readonly [Buffer, Buffer])[] = []
  const write = (): void => {
    to.transactionSync(() => {
      for (const [key, value] of batch) target.putSync(key, value)
    })
    batch = []
  }
  // Keys and values are views into the old file.
  for (const { key, value } of source?.getRange() ?? []) {
    batch.push([Buffer.from(key), Buffer.from(value)])
    if (batch.length === BATCH) write()
  }
  write()
}

const [dir, ...names] = process.argv.slice(2)
if (import.meta.main && dir !== undefined) {
  process.stderr.write(`converting ${join(dir, DATA_FILE)}, once\n`)
  await convertFile(dir, names)
}
