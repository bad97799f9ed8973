import type { Candle, CandleValues } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { type Interval, intervalSeconds } from '../domain/interval.ts'
import { type OrderKey, sameOrderKey } from '../domain/order-key.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { AS_NATIVE, AS_USD, NO_VALUES } from './candle-codec.ts'
import { readOrderKey } from './field-codec.ts'
import { readPackedValues, ValuesPacker } from './packed-values.ts'

/** One version of a candle of a series; a removal has no candle. */
export type CandleVersion = {
  readonly start: number
  readonly seq: number
  readonly candle: Candle | undefined
}

/** The same in bytes, as encoded by `writeCandleBody`; empty for a removal. */
export type CandleRecord = { readonly start: number; readonly seq: number; readonly body: Uint8Array }

const REMOVED = 1
const HAS_USD = 2
const HAS_NATIVE = 4
const QUOTE_OWN = 8
const QUOTE_AS_USD = 16
const QUOTE_AS_NATIVE = 24
const QUOTE_BITS = 24
const ONE_TRADE = 32
const ALL_FLAGS = 63

/** The previous version, which the next one is encoded relative to. */
type Context = { start: number; seq: number; block: number }

/**
 * Delta coding: times and versions are encoded as differences to the previous candle, and numbers without the bytes
 * that they share with it. The first candle is encoded in full, so that a run can be read on its own. The writer packs
 * every candle once, so numbers are copied as bytes and never decoded.
 */
export function writePackedCandles(
  w: ByteWriter,
  interval: Interval,
  records: readonly CandleRecord[],
): void {
  const context: Context = { start: 0, seq: 0, block: 0 }
  const seconds = intervalSeconds(interval)
  const columns = [new ValuesPacker(), new ValuesPacker(), new ValuesPacker()] as const
  scratch.clear()
  for (const record of records) writeRecord(scratch, record, context, seconds, columns)
  w.varuint(scratch.length)
  w.rawOf(scratch)
  for (const column of columns) {
    w.varuint(column.bytes.length)
    w.rawOf(column.bytes)
  }
}

const scratch = new ByteWriter(4_096)

export function readPackedCandles(bytes: Uint8Array, pair: string, interval: Interval): CandleVersion[] {
  const r = new ByteReader(bytes)
  const heads = new ByteReader(r.bytes())
  const [usdColumn, nativeColumn, quoteColumn] = [r, r, r].map((each) =>
    readPackedValues(each.bytes()).values(),
  )
  r.end()
  const context: Context = { start: 0, seq: 0, block: 0 }
  const seconds = intervalSeconds(interval)
  const versions: CandleVersion[] = []
  while (heads.remaining > 0) {
    const start = context.start + readStep(heads, seconds)
    context.start = start
    const flags = heads.u8()
    if (flags > ALL_FLAGS || (flags & REMOVED && flags !== REMOVED)) {
      throw unreadable(`a packed candle cannot begin with ${flags}`)
    }
    if (flags === REMOVED) {
      context.seq += readDelta(heads)
      versions.push({ start, seq: context.seq, candle: undefined })
      continue
    }
    const tradeCount = heads.varuint()
    const firstTrade = readKey(heads, context.block)
    const lastTrade = flags & ONE_TRADE ? firstTrade : readKey(heads, firstTrade.block)
    const seq = context.seq + readDelta(heads) + (lastTrade.block - context.block)
    context.seq = seq
    context.block = lastTrade.block
    const usd = flags & HAS_USD ? nextOf(usdColumn) : undefined
    const native = flags & HAS_NATIVE ? nextOf(nativeColumn) : undefined
    const quoteFlags = flags & QUOTE_BITS
    let quote: CandleValues | undefined
    if (quoteFlags === QUOTE_OWN) quote = nextOf(quoteColumn)
    else if (quoteFlags !== 0) quote = quoteFlags === QUOTE_AS_USD ? usd : native
    versions.push({
      start,
      seq,
      candle: { pair, interval, start, usd, native, quote, tradeCount, firstTrade, lastTrade },
    })
  }
  return versions
}

function nextOf(column: Iterator<CandleValues> | undefined): CandleValues {
  const { value } = column?.next() ?? {}
  if (value === undefined) throw unreadable('a packed candle has no values')
  return value
}

function writeRecord(
  w: ByteWriter,
  { start, seq, body }: CandleRecord,
  context: Context,
  seconds: number,
  [usd, native, quote]: readonly [ValuesPacker, ValuesPacker, ValuesPacker],
): void {
  writeStep(w, start - context.start, seconds)
  context.start = start
  if (body.length === 0) {
    w.u8(REMOVED)
    writeDelta(w, seq - context.seq)
    context.seq = seq
    return
  }
  let flags = 0
  let at = usd.add(body, 0)
  if (body[0] !== NO_VALUES) flags |= HAS_USD
  if (body[at] !== NO_VALUES) flags |= HAS_NATIVE
  at = native.add(body, at)
  const quoted = body[at]
  if (quoted === AS_USD || quoted === AS_NATIVE) {
    flags |= quoted === AS_USD ? QUOTE_AS_USD : QUOTE_AS_NATIVE
    at++
  } else {
    if (quoted !== NO_VALUES) flags |= QUOTE_OWN
    at = quote.add(body, at)
  }
  const r = new ByteReader(body, at)
  const tradeCount = r.varuint()
  const firstTrade = readOrderKey(r)
  const lastTrade = readOrderKey(r)
  r.end()
  const isOneTrade = sameOrderKey(firstTrade, lastTrade)
  w.u8(isOneTrade ? flags | ONE_TRADE : flags)
  w.varuint(tradeCount)
  writeKey(w, firstTrade, context.block)
  if (!isOneTrade) writeKey(w, lastTrade, firstTrade.block)
  // One message per block: versions and blocks advance together.
  writeDelta(w, seq - context.seq - (lastTrade.block - context.block))
  context.seq = seq
  context.block = lastTrade.block
}

/** Starts are multiples of the interval; the codec accepts any. */
function writeStep(w: ByteWriter, step: number, seconds: number): void {
  const isAligned = step % seconds === 0
  w.varuint(zigzag(isAligned ? step / seconds : step) * 2 + (isAligned ? 0 : 1))
}

function readStep(r: ByteReader, seconds: number): number {
  const coded = r.varuint()
  const step = unzigzag(Math.floor(coded / 2))
  return coded % 2 === 0 ? step * seconds : step
}

function writeKey(w: ByteWriter, { block, tx, log }: OrderKey, base: number): void {
  writeDelta(w, block - base)
  w.varuint(tx)
  w.varuint(log)
}

function readKey(r: ByteReader, base: number): OrderKey {
  return { block: base + readDelta(r), tx: r.varuint(), log: r.varuint() }
}

function writeDelta(w: ByteWriter, delta: number): void {
  w.varuint(zigzag(delta))
}

function readDelta(r: ByteReader): number {
  return unzigzag(r.varuint())
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value
}

function unzigzag(coded: number): number {
  return coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2
}

function unreadable(reason: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', reason)
}
