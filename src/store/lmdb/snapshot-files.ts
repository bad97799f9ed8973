import { createHash, type Hash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  type PathLike,
  readdirSync,
  readFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { LogPosition } from '../../domain/log-position.ts'
import { fromStoredPosition } from '../stored-position.ts'

/** Describes a snapshot. It is written last, so a snapshot without it is incomplete. */
const manifestSchema = Type.Object({
  format: Type.String(),
  position: Type.Object({ epoch: Type.String(), seq: Type.Integer(), link: Type.Integer() }),
  /** The hash of the compressed file. */
  sha256: Type.String(),
})

export type Snapshot = {
  /** Path without its extension. */
  readonly path: string
  readonly format: string
  readonly position: LogPosition
  readonly sha256: string
}

export const DATA = '.mdb.zst'
export const MANIFEST = '.json'

/** The snapshots in a folder that have one of these formats, newest first. Unreadable manifests are ignored. */
export function listSnapshots(folder: string, ...formats: readonly string[]): Snapshot[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith(MANIFEST))
    .flatMap((name) => {
      const path = join(folder, name.slice(0, -MANIFEST.length))
      const manifest = readManifest(join(folder, name))
      if (manifest === undefined || !formats.includes(manifest.format)) return []
      return [{ path, ...manifest, position: fromStoredPosition(manifest.position) }]
    })
    .sort((a, b) => b.position.sequence - a.position.sequence)
}

function readManifest(file: PathLike): Static<typeof manifestSchema> | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Value.Check(manifestSchema, manifest) ? manifest : undefined
  } catch {
    // Cut short by a synchronization, or removed meanwhile: the next snapshot serves as well.
    return undefined
  }
}

/** Passes everything on and adds it to a hash. */
export function hashing(hash: Hash): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
}

/** Unpacks a snapshot's data file. False, and no file, if it does not match its manifest. */
export async function unpackSnapshot({ path, sha256 }: Snapshot, file: string): Promise<boolean> {
  const hash = createHash('sha256')
  try {
    await pipeline(
      createReadStream(`${path}${DATA}`),
      hashing(hash),
      createZstdDecompress(),
      createWriteStream(file, { flush: true }),
    )
    if (hash.digest('hex') === sha256) return true
  } catch (error) {
    // A full disk is no fault of the snapshot.
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error
  }
  await rm(file, { force: true })
  return false
}
