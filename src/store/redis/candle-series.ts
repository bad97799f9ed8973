import type { Candle } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Interval } from '../../domain/interval.ts'
import { ByteReader } from '../../wire/byte-reader.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { readCandleBody, writeCandleBody } from '../../wire/candle-body.ts'
import {
  type CandleRecord,
  type CandleVersion,
  readPackedCandles,
  writePackedCandles,
} from '../../wire/packed-candles.ts'
import { RECORD_VERSION } from '../../wire/record-codec.ts'
import type { Versioned } from '../versioned.ts'

/** The latest candles of a pair and interval. */
export type RecentCandles = {
  /** Complete from this start on; 0 if there are no older candles at all. */
  readonly from: number
  /** Latest first. */
  readonly candles: readonly Versioned<Candle>[]
}

/** The fields of a series in the hash of its pair, as documented in apply.lua and pack.lua. */
export type SeriesFields = {
  readonly open: Buffer | null | undefined
  readonly tail: Buffer | null | undefined
  readonly packed: Buffer | null | undefined
}

export type SeriesOf = { readonly pair: string; readonly interval: Interval }

type Chunk = { readonly bytes: Uint8Array; readonly maxStart: number }

/** The record version, the last change (8 bytes), `from` and the start of the latest candle (4 bytes each). */
const HEADER_BYTES = 17
const TAIL_HEADER_BYTES = 2

/** The latest candle of a series, if it is stored separately; undefined if the whole series has to be read. */
export function readOpenCandle(value: Buffer, of: SeriesOf): Versioned<Candle> | undefined {
  const { open } = readOpen(value, of)
  return open?.candle === undefined ? undefined : { seq: open.seq, record: open.candle }
}

/** Decodes at most `limit` candles; undefined if there is no series or no candle is left. */
export function readSeries(fields: SeriesFields, of: SeriesOf, limit: number): RecentCandles | undefined {
  if (fields.open == null) return undefined
  const { from, open } = readOpen(fields.open, of)
  const versions = [...(open === undefined ? [] : [open]), ...readTail(fields.tail, of).reverse()]
  const packed = fields.packed ?? Buffer.alloc(0)
  const chunks = readDirectory(packed)
  let standing = standingOf(versions, from)
  while (chunks.length > 0) {
    const oldest = standing[limit - 1]?.record.start ?? -1
    if (chunks.every(({ maxStart }) => maxStart < oldest)) break
    const chunk = chunks.pop() as Chunk
    versions.push(...readPackedCandles(chunk.bytes, of.pair, of.interval).reverse())
    standing = standingOf(versions, from)
  }
  return standing.length === 0 ? undefined : { from, candles: standing.slice(0, limit) }
}

/**
 * Merges packed candles and the records of a tail into chunks of at most `maxCount`, each candle once, sorted by start.
 * Removals are dropped: a tail with removals comes with all packed candles they can refer to.
 */
export function packTail(tail: Buffer, packed: Buffer, interval: Interval, maxCount: number): Uint8Array {
  const latest = new Map<number, CandleRecord>()
  for (const record of [...unpack(packed, interval), ...readRecords(tail)]) latest.set(record.start, record)
  const records = [...latest.values()].filter(({ body }) => body.length > 0).sort((a, b) => a.start - b.start)
  const chunks = new ByteWriter(4_096)
  const body = new ByteWriter(4_096)
  for (let at = 0; at < records.length; at += maxCount) {
    const run = records.slice(at, at + maxCount)
    body.clear()
    writePackedCandles(body, interval, run)
    chunks.u16(body.length)
    chunks.u16(run.length)
    chunks.u32(run.at(-1)?.start ?? 0)
    chunks.rawOf(body)
  }
  return chunks.finish()
}

function unpack(packed: Buffer, interval: Interval): CandleRecord[] {
  return readDirectory(packed).flatMap(({ bytes }) =>
    readPackedCandles(bytes, '', interval).map(({ start, seq, candle }) => {
      const w = new ByteWriter()
      if (candle !== undefined) writeCandleBody(w, candle)
      return { start, seq, body: w.finish() }
    }),
  )
}

/** The existing candles among versions, latest first. */
function standingOf(versions: readonly CandleVersion[], from: number): Versioned<Candle>[] {
  const ordered = isDescending(versions) ? versions : latestVersions(versions)
  const standing: Versioned<Candle>[] = []
  for (const { start, seq, candle } of ordered) {
    if (candle !== undefined && start >= from) standing.push({ seq, record: candle })
  }
  return standing
}

function isDescending(versions: readonly CandleVersion[]): boolean {
  for (let i = 1; i < versions.length; i++) {
    if ((versions[i] as CandleVersion).start >= (versions[i - 1] as CandleVersion).start) return false
  }
  return true
}

/** After a reorg, a candle may have several versions. */
function latestVersions(versions: readonly CandleVersion[]): CandleVersion[] {
  const latest = new Map<number, CandleVersion>()
  for (const version of versions) {
    const known = latest.get(version.start)
    if (known === undefined || version.seq > known.seq) latest.set(version.start, version)
  }
  return [...latest.values()].sort((a, b) => b.start - a.start)
}

function readOpen(value: Buffer, of: SeriesOf): { from: number; open: CandleVersion | undefined } {
  const version = value[0]
  if (version !== RECORD_VERSION || value.length < HEADER_BYTES) {
    throw new ChaintapeError(
      'message_unreadable',
      `a stored series has version ${version}, not ${RECORD_VERSION}`,
    )
  }
  const from = value.readUInt32BE(9)
  const start = value.readUInt32BE(13)
  if (value.length === HEADER_BYTES) return { from, open: undefined }
  return { from, open: readVersion(readRecord(start, value.subarray(HEADER_BYTES)), of) }
}

function readTail(tail: Buffer | null | undefined, of: SeriesOf): CandleVersion[] {
  return tail == null ? [] : readRecords(tail).map((record) => readVersion(record, of))
}

function readRecords(tail: Buffer): CandleRecord[] {
  const r = new ByteReader(tail, TAIL_HEADER_BYTES)
  const records: CandleRecord[] = []
  while (r.remaining > 0) {
    const start = r.u32()
    records.push(readRecord(start, r.raw(r.u16())))
  }
  return records
}

/** The version, followed by the candle unless it is a removal. */
function readRecord(start: number, bytes: Uint8Array): CandleRecord {
  const r = new ByteReader(bytes)
  const seq = r.varuint()
  return { start, seq, body: bytes.subarray(r.position) }
}

function readVersion({ start, seq, body }: CandleRecord, { pair, interval }: SeriesOf): CandleVersion {
  if (body.length === 0) return { start, seq, candle: undefined }
  const r = new ByteReader(body)
  const candle = readCandleBody(r, pair, interval, start)
  r.end()
  return { start, seq, candle }
}

/** Oldest first. */
function readDirectory(packed: Buffer): Chunk[] {
  const chunks: Chunk[] = []
  const r = new ByteReader(packed)
  while (r.remaining > 0) {
    const length = r.u16()
    // The candle count, which only pack.lua needs.
    r.u16()
    const maxStart = r.u32()
    chunks.push({ bytes: r.raw(length), maxStart })
  }
  return chunks
}
