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
import { NATIVE, QUOTE, type ReadCandlesRow, type ReadValuesRow, USD } from './candle-rows.ts'

/** All of a longer candle is as in the shorter one; where it starts follows. */
const ALL_AS_SHORTER = SAME_PAIR | AROUND | SAME_FIRST | SAME_LAST | SAME_TRADES
/** One with more trades than the shorter one: it began with another. */
const WITH_MORE_TRADES = SAME_PAIR | AROUND | SAME_LAST

/** As `writeCandles` writes the same candles. `other` is the same row again, to look at two candles at once. */
export function writeCandlesRow(
  w: ByteWriter,
  pair: Uint8Array,
  row: ReadCandlesRow,
  other: ReadCandlesRow,
): void {
  w.varuint(INTERVALS.length)
  let shorter = 0
  for (let at = 0; at < INTERVALS.length; at++) {
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
    const inShorter = (unit: number): ReadValuesRow | undefined =>
      at === 0 ? undefined : other.candles.at(shorter).units.at(unit)
    writeValues(w, candle.units.at(USD), inShorter(USD))
    writeValues(w, candle.units.at(NATIVE), inShorter(NATIVE))
    const quote = candle.units.at(QUOTE)
    if (isSame(quote, other.candles.at(at).units.at(USD))) w.u8(AS_USD)
    else if (isSame(quote, other.candles.at(at).units.at(NATIVE))) w.u8(AS_NATIVE)
    else writeValues(w, quote, inShorter(QUOTE))
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

/** What is as in the shorter candle is not written again. */
function writeValues(w: ByteWriter, values: ReadValuesRow, shorter: ReadValuesRow | undefined): void {
  if (!values.isKnown) {
    w.u8(NO_VALUES)
    return
  }
  const { words } = values
  const isBefore = shorter?.isKnown === true
  const same = isBefore ? sameNumbers(values, shorter) : 0
  w.u8(same === ALL_SAME || values.hasVolume ? same : same | NO_VOLUME)
  if (!(same & SAME_OPEN)) w.limbs(words, values.openAt)
  if (!(same & SAME_HIGH)) w.limbs(words, values.highAt)
  if (!(same & SAME_LOW)) w.limbs(words, values.lowAt)
  if (!(same & SAME_CLOSE)) w.limbs(words, values.closeAt)
  if (values.hasVolume && !(same & SAME_VOLUME)) w.limbs(words, values.volumeAt)
}

/** Volumes count as the same only if both are known, or if all else is the same. */
function sameNumbers(a: ReadValuesRow, b: ReadValuesRow): number {
  let same = 0
  if (compare(a.words, a.openAt, b.words, b.openAt) === 0) same |= SAME_OPEN
  if (compare(a.words, a.highAt, b.words, b.highAt) === 0) same |= SAME_HIGH
  if (compare(a.words, a.lowAt, b.words, b.lowAt) === 0) same |= SAME_LOW
  if (compare(a.words, a.closeAt, b.words, b.closeAt) === 0) same |= SAME_CLOSE
  const isSameVolume = a.hasVolume === b.hasVolume && compare(a.words, a.volumeAt, b.words, b.volumeAt) === 0
  if (!isSameVolume) return same
  const all = same | SAME_VOLUME
  return a.hasVolume || all === ALL_SAME ? all : same
}

function isSame(quote: ReadValuesRow, other: ReadValuesRow): boolean {
  return quote.isKnown && other.isKnown && sameNumbers(quote, other) === ALL_SAME
}
