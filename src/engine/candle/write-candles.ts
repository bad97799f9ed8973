import { INTERVALS } from '../../domain/interval.ts'
import { compare } from '../../state/limbs.ts'
import type { ByteWriter } from '../../wire/byte-writer.ts'
import {
  ALL_SAME,
  AROUND,
  AS_NATIVE,
  AS_USD,
  NO_VALUES,
  NO_VOLUME,
  SAME_CLOSE,
  SAME_FIRST,
  SAME_HIGH,
  SAME_LAST,
  SAME_LOW,
  SAME_OPEN,
  SAME_PAIR,
  SAME_TRADES,
  SAME_VOLUME,
} from '../../wire/candle-codec.ts'
import {
  NATIVE,
  QUOTE,
  type ReadCandlesRow,
  type ReadCloseRow,
  type ReadValuesRow,
  UNITS,
  USD,
  unitOfQuote,
} from './candle-rows.ts'

/** A longer candle equals the shorter one except for its start, which follows. */
const ALL_AS_SHORTER = SAME_PAIR | AROUND | SAME_FIRST | SAME_LAST | SAME_TRADES
/** The candle has more trades than the shorter one, because it began earlier. */
const WITH_MORE_TRADES = SAME_PAIR | AROUND | SAME_LAST

/**
 * Writes the bytes of `writeCandles` from a row: all candles, or only some of the shortest. `other` is a second view of
 * the same row, to compare two candles.
 */
export function writeCandlesRow(
  w: ByteWriter,
  pair: Uint8Array,
  row: ReadCandlesRow,
  other: ReadCandlesRow,
  count: number = INTERVALS.length,
): void {
  w.varuint(count)
  let shorter: number | undefined
  for (let at = 0; at < count; at++) {
    const candle = row.candles.at(at)
    if (candle.isSame) {
      w.u8(ALL_AS_SHORTER)
      continue
    }
    w.u8(at === 0 ? 0 : WITH_MORE_TRADES)
    if (at === 0) {
      w.piece(pair)
      w.u8(at)
      w.varuint(candle.start)
    }
    for (let unit = 0; unit < UNITS.length; unit++) writeUnit(w, unit, row, other, at, shorter)
    w.varuint(candle.tradeCount)
    writeKey(w, candle.firstBlock, candle.firstTx, candle.firstLog)
    if (at === 0) writeKey(w, row.lastBlock, row.lastTx, row.lastLog)
    shorter = at
  }
}

function writeKey(w: ByteWriter, block: number, tx: number, log: number): void {
  w.varuint(block)
  w.varuint(tx)
  w.varuint(log)
}

/**
 * The candle's values in one unit. In the quote asset they are a reference if they equal those in dollars or native
 * coins.
 */
function writeUnit(
  w: ByteWriter,
  unit: number,
  row: ReadCandlesRow,
  other: ReadCandlesRow,
  at: number,
  shorter: number | undefined,
): void {
  const candle = row.candles.at(at)
  const own = unit === QUOTE ? unitOfQuote(candle) : unit
  const values = candle.units.at(own)
  const close = row.closes.at(own)
  if (unit === QUOTE && isAs(values, own, USD, row, other, at)) w.u8(AS_USD)
  else if (unit === QUOTE && isAs(values, own, NATIVE, row, other, at)) w.u8(AS_NATIVE)
  else if (shorter === undefined) writeValues(w, values, close, undefined)
  else {
    const inShorter = other.candles.at(shorter)
    writeValues(w, values, close, inShorter.units.at(unit === QUOTE ? unitOfQuote(inShorter) : unit))
  }
}

/** Whether the values in `own` equal those in `unit`. */
function isAs(
  values: ReadValuesRow,
  own: number,
  unit: number,
  row: ReadCandlesRow,
  other: ReadCandlesRow,
  at: number,
): boolean {
  if (!values.isKnown || own === unit) return values.isKnown
  const compared = other.candles.at(at).units.at(unit)
  if (!compared.isKnown) return false
  const close = row.closes.at(own)
  const otherClose = other.closes.at(unit)
  if (compare(close.words, close.priceAt, otherClose.words, otherClose.priceAt) !== 0) return false
  return sameNumbers(values, compared) === ALL_SAME
}

/**
 * Delta coding: values equal to the shorter candle's are omitted, and so is the close, which is always equal. The
 * shortest candle begins with it.
 */
function writeValues(
  w: ByteWriter,
  values: ReadValuesRow,
  close: ReadCloseRow,
  shorter: ReadValuesRow | undefined,
): void {
  if (!values.isKnown) {
    w.u8(NO_VALUES)
    return
  }
  const { words } = values
  const isFirst = shorter?.isKnown !== true
  const same = isFirst ? sameAsClose(values, close) : sameNumbers(values, shorter)
  w.u8(same === ALL_SAME || values.hasVolume ? same : same | NO_VOLUME)
  if (isFirst) w.limbs(close.words, close.priceAt)
  if (!(same & SAME_OPEN)) w.limbs(words, values.openAt)
  if (!(same & SAME_HIGH)) w.limbs(words, values.highAt)
  if (!(same & SAME_LOW)) w.limbs(words, values.lowAt)
  if (values.hasVolume && !(same & SAME_VOLUME)) w.limbs(words, values.volumeAt)
}

function sameAsClose({ words, openAt, highAt, lowAt }: ReadValuesRow, close: ReadCloseRow): number {
  let same = 0
  if (compare(words, openAt, close.words, close.priceAt) === 0) same |= SAME_OPEN
  if (compare(words, highAt, close.words, close.priceAt) === 0) same |= SAME_HIGH
  if (compare(words, lowAt, close.words, close.priceAt) === 0) same |= SAME_LOW
  return same
}

/** Compares values that share a close. Two unknown volumes count as equal only if all else is equal. */
function sameNumbers(a: ReadValuesRow, b: ReadValuesRow): number {
  let same = SAME_CLOSE
  if (compare(a.words, a.openAt, b.words, b.openAt) === 0) same |= SAME_OPEN
  if (compare(a.words, a.highAt, b.words, b.highAt) === 0) same |= SAME_HIGH
  if (compare(a.words, a.lowAt, b.words, b.lowAt) === 0) same |= SAME_LOW
  const isSameVolume = a.hasVolume === b.hasVolume && compare(a.words, a.volumeAt, b.words, b.volumeAt) === 0
  if (!isSameVolume) return same
  const all = same | SAME_VOLUME
  return a.hasVolume || all === ALL_SAME ? all : same
}
