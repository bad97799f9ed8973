import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ChaintapeError } from '../domain/errors.ts'

/**
 * Prevents a second process from using a folder. Several readers or engines may run for a chain, so the log does not
 * fence a process that uses another's state by mistake. Only an operating system lock always ends with its process;
 * Node has no API for one, but its SQLite takes one.
 */
export function lockFolder(dir: string): { release(): void } {
  mkdirSync(dir, { recursive: true })
  const database = new DatabaseSync(join(dir, 'owner.lock'))
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    throw new ChaintapeError('fenced', `another process uses ${dir}; each process needs its own data_dir`, {
      cause: error,
    })
  }
  return { release: () => database.close() }
}
