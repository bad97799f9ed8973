import { ChaintapeError } from '../../domain/errors.ts'
import { ByteReader } from '../../wire/byte-reader.ts'
import { RECORD_VERSION } from '../../wire/record-codec.ts'
import type { Versioned } from '../versioned.ts'

const LINE_END = 10

/**
 * `<version>:<seq>`, optional fields for apply.lua, a line feed and the record's bytes; without bytes it is a
 * tombstone.
 */
export function readStored<T>(value: Buffer | null, read: (r: ByteReader) => T): Versioned<T> | undefined {
  if (value === null) return undefined
  const lineEnd = value.indexOf(LINE_END)
  const seq = storedSeq(value)
  if (lineEnd === value.length - 1) return undefined
  const r = new ByteReader(value.subarray(lineEnd + 1))
  const record = read(r)
  r.end()
  return { seq, record }
}

/** The version in the header of a stored value. */
export function storedSeq(value: Buffer): number {
  return readSeq(value.toString('latin1', 0, Math.max(value.indexOf(LINE_END), 0)).split(':'))
}

export function formatHeader(seq: number): string {
  return `${RECORD_VERSION}:${seq}\n`
}

function readSeq([version, seq]: readonly string[]): number {
  if (version !== String(RECORD_VERSION) || seq === undefined) {
    throw new ChaintapeError(
      'message_unreadable',
      `a stored document has version ${version}, not ${RECORD_VERSION}`,
    )
  }
  return Number(seq)
}
