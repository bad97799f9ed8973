import { createHash } from 'node:crypto'
import { createWriteStream, mkdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { hashing } from '../../store/lmdb/snapshot-files.ts'
import type { BackupFile } from './manifest.ts'

/** What exists only in NATS. Requests for work and fault reports expire within minutes. */
export const LATEST_COPIED = ['KEYS', 'USAGE', 'QUARANTINE', 'GENERATIONS'] as const
export type LatestCopied = (typeof LATEST_COPIED)[number]

export const STATE_ROLES = ['engine', 'reader'] as const

export function latestFile(name: LatestCopied): string {
  return `latest/${name.toLowerCase()}.jsonl.zst`
}

/** The files of a backup, with their checksums. */
export class BackupFiles {
  readonly #dir: string
  readonly written: BackupFile[] = []

  constructor(dir: string) {
    this.#dir = dir
  }

  async add(path: string, source: Readable, { compress = false } = {}): Promise<void> {
    const file = join(this.#dir, path)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const hash = createHash('sha256')
    const out = createWriteStream(file, { flush: true, mode: 0o600 })
    if (compress) await pipeline(source, createZstdCompress(), hashing(hash), out)
    else await pipeline(source, hashing(hash), out)
    this.written.push({ path, bytes: (await stat(file)).size, sha256: hash.digest('hex') })
  }
}
