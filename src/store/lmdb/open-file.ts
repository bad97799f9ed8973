import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { open, type RootDatabase, type RootDatabaseOptions } from 'lmdb'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Logger } from '../../lib/logger.ts'

export const DATA_FILE = 'data.mdb'
export const LOCK_FILE = 'lock.mdb'
/** Marks a folder whose file may be changed by the version of LMDB that this program has. */
const MARK = 'lmdb-2'

/** Its source in a clone, the compiled module in an installed package. */
const PROGRAM = fileURLToPath(new URL(`./convert-file${extname(import.meta.filename)}`, import.meta.url))

/** Opens the LMDB file in a folder, or makes one. Refuses one that has to be converted first. */
export function openFile(
  dir: string,
  options: RootDatabaseOptions & { readonly maxDbs: number },
): RootDatabase {
  mkdirSync(dir, { recursive: true })
  if (needsConversion(dir))
    throw new ChaintapeError(
      'state_outdated',
      `${dir} was written by an earlier release; start its role first`,
    )
  if (!isOwn(dir)) markAsOwn(dir)
  return open({ path: dir, ...options })
}

/**
 * Converts the file of a folder and those of the folders in it. Releases up to 0.3.0 wrote them with another version of LMDB,
 * whose lists of free pages this one misreads. In a process of its own: it takes as long as copying them.
 */
export async function convertOlderFiles(dir: string, logger: Logger, signal: AbortSignal): Promise<void> {
  await convert(dir, logger, signal)
  for (const entry of readdirSync(dir, { withFileTypes: true }))
    if (entry.isDirectory()) await convert(join(dir, entry.name), logger, signal)
}

async function convert(dir: string, logger: Logger, signal: AbortSignal): Promise<void> {
  if (!needsConversion(dir)) return
  logger.info({ dir }, 'Converting the state of an earlier release')
  try {
    await promisify(execFile)(process.execPath, [PROGRAM, dir], { signal })
  } catch (error) {
    if (signal.aborted) throw error
    throw new ChaintapeError('store_unavailable', `cannot convert the state in ${dir}`, { cause: error })
  }
  markAsOwn(dir)
}

/** For a file without a list of free pages, as in a snapshot. */
export function markAsOwn(dir: string): void {
  writeFileSync(join(dir, MARK), '', { flush: true })
}

export function needsConversion(dir: string): boolean {
  return existsSync(join(dir, DATA_FILE)) && !isOwn(dir)
}

function isOwn(dir: string): boolean {
  return existsSync(join(dir, MARK))
}
