import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { ChaintapeError } from '../../domain/errors.ts'

/** Version of the layout of a backup. */
export const BACKUP_FORMAT = 'chaintape-backup-1'
export const MANIFEST_FILE = 'manifest.json'

const position = Type.Object({ epoch: Type.String(), sequence: Type.Integer(), link: Type.Integer() })

/** Frames of a log, from sequence `first` to `last`. */
const frames = Type.Object({
  epoch: Type.String(),
  first: Type.Integer(),
  last: Type.Integer(),
  file: Type.String(),
})

const chain = Type.Object({
  /** The number of the generation that was served; by default the first one. */
  generation: Type.Optional(Type.Integer({ minimum: 1 })),
  blocks: frames,
  changes: frames,
  /** The commit point of the archive: BLOCKS continues it. */
  archived: Type.Optional(position),
  /** The commit point of the tables: CHANGES continues it. */
  marker: Type.Optional(
    Type.Object({
      chain: Type.String(),
      seq: Type.Integer(),
      number: Type.Integer(),
      hash: Type.String(),
      time: Type.Integer(),
      startTime: Type.Optional(Type.Integer()),
      finalNumber: Type.Integer(),
      position,
    }),
  ),
})

const manifestSchema = Type.Object({
  format: Type.Literal(BACKUP_FORMAT),
  /** Identifies the backup: an interrupted restore continues only with the same one. */
  id: Type.String(),
  version: Type.String(),
  created_at: Type.String(),
  chains: Type.Record(Type.String(), chain),
  files: Type.Array(Type.Object({ path: Type.String(), bytes: Type.Integer(), sha256: Type.String() })),
})

export type Manifest = Static<typeof manifestSchema>
export type ChainBackup = Static<typeof chain>
export type BackupFile = Manifest['files'][number]

export function readManifest(dir: string): Manifest {
  const file = join(dir, MANIFEST_FILE)
  if (!existsSync(file))
    throw invalid(`${dir} has no ${MANIFEST_FILE}: it is no backup, or not a complete one`)
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw invalid(`${file} is not JSON`)
  }
  if (!Value.Check(manifestSchema, manifest)) throw invalid(`${file} is not a manifest of ${BACKUP_FORMAT}`)
  const outside = manifest.files.find(({ path }) => path.startsWith('/') || path.split('/').includes('..'))
  if (outside !== undefined) throw invalid(`${file} names a file outside the backup: ${outside.path}`)
  return manifest
}

/** Compares every file with the manifest, so that nothing is restored from a damaged backup. */
export async function verifyFiles(dir: string, { files }: Manifest): Promise<void> {
  for (const { path, bytes, sha256 } of files) {
    const size = statSync(join(dir, path), { throwIfNoEntry: false })?.size
    if (size === undefined) throw invalid(`${path} is missing`)
    if (size !== bytes) throw invalid(`${path} has ${size} bytes, not ${bytes}`)
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(dir, path)), hash)
    if (hash.digest('hex') !== sha256) throw invalid(`${path} does not match its SHA-256`)
  }
}

function invalid(reason: string): ChaintapeError {
  return new ChaintapeError('backup_invalid', `${reason}; use another backup`)
}
