/** node convert-file.ts <folder>: copies all entries of an LMDB file into a new one. */
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { DATA_FILE, LOCK_FILE } from './open-file.ts'

const BATCH = 10_000
/** More than any of our files has. */
const MAX_DATABASES = 16

/** Only reads the old file, which is replaced at the end: it can be interrupted and repeated. */
async function convertFile(dir: string): Promise<void> {
  const made = join(dir, 'converted')
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made)
  const from = open<Buffer, Buffer>({
    path: dir,
    readOnly: true,
    maxDbs: MAX_DATABASES,
    keyEncoding: 'binary',
  })
  const to = open({ path: made, maxDbs: MAX_DATABASES })
  // Keys of the file itself are the names of its databases, each with a zero at its end.
  const names = Array.from(from.getKeys(), (key) => key.toString().slice(0, -1))
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

await convertFile(process.argv[2] ?? '')
