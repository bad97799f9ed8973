import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open, type RootDatabase, type RootDatabaseOptions } from 'lmdb'

export const DATA_FILE = 'data.mdb'
export const LOCK_FILE = 'lock.mdb'
/** Marks a folder whose file may be changed by the version of LMDB that this program has. */
const MARK = 'lmdb-2'

/** Its source in a clone, the compiled module in an installed package. */
const PROGRAM = fileURLToPath(new URL(`./convert-file${extname(import.meta.filename)}`, import.meta.url))

/**
 * Opens the LMDB file in a folder, or makes one, for databases of these names. Releases up to 0.3.0 wrote it with another
 * version, whose lists of free pages this one misreads: such a file is converted first.
 */
export function openFile(
  dir: string,
  names: readonly string[],
  options: Omit<RootDatabaseOptions, 'maxDbs'> = {},
): RootDatabase {
  mkdirSync(dir, { recursive: true })
  if (!isOwn(dir)) {
    // In a process of its own, because LMDB can only be closed asynchronously.
    if (existsSync(join(dir, DATA_FILE)))
      execFileSync(process.execPath, [PROGRAM, dir, ...names], { stdio: ['ignore', 'ignore', 'inherit'] })
    markAsOwn(dir)
  }
  return open({ path: dir, maxDbs: names.length, ...options })
}

/** For a file without a list of free pages, as in a snapshot. */
export function markAsOwn(dir: string): void {
  writeFileSync(join(dir, MARK), '', { flush: true })
}

export function isOwn(dir: string): boolean {
  return existsSync(join(dir, MARK))
}
