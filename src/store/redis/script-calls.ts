import { ByteReader } from '../../wire/byte-reader.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { CANDLE } from '../../wire/change-layouts.ts'
import { END, START } from '../../wire/record-layout.ts'
import type { PlacedChange } from '../latest-changes.ts'
import { type CandlesWrite, writeCandleRecords } from './candle-writes.ts'
import type { DocumentWrite } from './documents.ts'
import { DOCUMENT_KINDS } from './keys.ts'

export type Write = DocumentWrite | CandlesWrite

// Redis serves no other client while a script runs, so a call is limited to a millisecond or two.
const RECORDS_PER_CALL = 250
const TWO_32 = 2 ** 32

/**
 * Splits writes into calls of apply.lua. A pair's candles are never split, because the script needs all of a version at
 * once.
 */
export function callsOf(writes: readonly Write[]): Write[][] {
  const calls: Write[][] = []
  let room = 0
  for (const write of writes) {
    const size = write.kind === 'candles' ? write.candles.length : 1
    if (room < size || calls.length === 0) {
      calls.push([])
      room = RECORDS_PER_CALL
    }
    calls.at(-1)?.push(write)
    room -= size
  }
  return calls
}

const codes = new Map(DOCUMENT_KINDS.map((kind, code) => [kind, code]))

/** Shared by all calls, so that it grows only once. */
const w = new ByteWriter(65_536)

/** All writes in one argument, because an argument costs the client more than a copy. */
export function argumentOf(writes: readonly Write[]): Buffer {
  w.clear()
  for (const write of writes) {
    w.u8(codes.get(write.kind) as number)
    const { bytes, at } = addressPlace(write)
    w.sizedIdText(bytes, at)
    if (write.kind === 'candles') writeCandles(write)
    else writeDocument(write)
  }
  return asBuffer(w.finish())
}

/** The address of the document, or of the pair that the candles are of. */
export function addressOf(write: Write): string {
  const { bytes, at } = addressPlace(write)
  return new ByteReader(bytes, at).id()
}

export function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

function addressPlace(write: Write): { readonly bytes: Uint8Array; readonly at: number } {
  if (write.kind !== 'candles') return { bytes: write.set.bytes, at: write.addressAt }
  const { set, base } = write.candles[0] as PlacedChange
  return { bytes: set.bytes, at: set.places[base + CANDLE.slots.pair] as number }
}

function writeCandles({ froms, candles }: CandlesWrite): void {
  w.u32(froms.length)
  w.raw(froms)
  w.u32(candles.length)
  writeCandleRecords(w, candles)
}

function writeDocument({ set, base, isRemoved, ranks }: DocumentWrite): void {
  w.u32(Math.floor(set.seq / TWO_32))
  w.u32(set.seq % TWO_32)
  const start = isRemoved ? 0 : (set.places[base + START] as number)
  const end = isRemoved ? 0 : (set.places[base + END] as number)
  w.u32(end - start)
  w.copy(set.bytes, start, end)
  w.u8(ranks.length)
  for (const [name, score] of ranks) {
    w.sizedText(name)
    w.sizedText(score)
  }
}
