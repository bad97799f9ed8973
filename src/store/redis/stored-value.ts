import { ChaintapeError } from '../../domain/errors.ts'
import { ByteReader } from '../../domain/wire/byte-reader.ts'
import { RECORD_VERSION } from '../../domain/wire/record-codec.ts'

export type Versioned<T> = { readonly seq: number; readonly record: T }

const LINE_END = 10

/** `<version>:<seq>`, perhaps a note for apply.lua, a line end, the record's bytes; without those, a tombstone. */
export function readStored<T>(value: Buffer | null, read: (r: ByteReader) => T): Versioned<T> | undefined {
  if (value === null) return undefined
  const lineEnd = value.indexOf(LINE_END)
  const [version, seq] = value.toString('latin1', 0, Math.max(lineEnd, 0)).split(':')
  if (version !== String(RECORD_VERSION) || seq === undefined) {
    throw new ChaintapeError(
      'message_unreadable',
      `a stored document has version ${version}, not ${RECORD_VERSION}`,
    )
  }
  if (lineEnd === value.length - 1) return undefined
  const r = new ByteReader(value.subarray(lineEnd + 1))
  const record = read(r)
  r.end()
  return { seq: Number(seq), record }
}

export function formatHeader(seq: number): string {
  return `${RECORD_VERSION}:${seq}\n`
}
