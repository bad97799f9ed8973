import type { Candle } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { ByteReader } from '../../wire/byte-reader.ts'
import { readCandle } from '../../wire/candle-codec.ts'
import { RECORD_VERSION } from '../../wire/record-codec.ts'
import type { Versioned } from '../versioned.ts'

/** The newest candles of a pair and interval. */
export type CandleSeries = {
  /** Of all that start here or later none is missing; 0 if there are no others at all. */
  readonly from: number
  /** Newest first. */
  readonly candles: readonly Versioned<Candle>[]
}

const LINE_END = 10

/** `<version>:<seq>`, perhaps more for apply.lua, a line end, the record's bytes; without those, a tombstone. */
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

/** From the fields that apply.lua describes; only as many candles are decoded as are asked for. */
export function readSeries(
  fields: Readonly<Record<string, Buffer>>,
  limit: number,
): CandleSeries | undefined {
  const { about, newest, ...others } = fields
  if (about === undefined || newest === undefined) return undefined
  const parts = about.toString('latin1').split(':')
  readSeq(parts)
  const from = Number(parts[2])
  const older = Object.keys(others)
    .map(Number)
    .filter((start) => start >= from)
    .sort((a, b) => b - a)
    .slice(0, Math.max(0, limit - 1))
  const values = [newest, ...older.map((start) => others[start] as Buffer)].slice(0, limit)
  return { from, candles: values.flatMap((value) => readStored(value, (r) => readCandle(r)) ?? []) }
}

/** The version of what is stored, which begins with a header. */
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
