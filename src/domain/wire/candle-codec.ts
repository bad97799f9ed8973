import type { Candle, CandleRef, CandleValues } from '../change.ts'
import { ChaintapeError } from '../errors.ts'
import { INTERVALS, type Interval } from '../interval.ts'
import { sameOrderKey } from '../order-key.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readOrderKey, writeOrderKey } from './record-codec.ts'

const SAME_PAIR = 1
const SAME_FIRST = 2
const SAME_LAST = 4

const SAME_OPEN = 1
const SAME_HIGH = 2
const SAME_LOW = 4
const SAME_CLOSE = 8
const SAME_VOLUME = 16
const ALL_SAME = SAME_OPEN | SAME_HIGH | SAME_LOW | SAME_CLOSE | SAME_VOLUME
const NO_VALUES = 32

export function writeCandleRef(w: ByteWriter, ref: CandleRef): void {
  w.recurringId(ref.pair)
  w.u8(INTERVALS.indexOf(ref.interval))
  w.varuint(ref.start)
}

export function readCandleRef(r: ByteReader): CandleRef {
  return { pair: r.id(), interval: readInterval(r), start: r.varuint() }
}

function readInterval(r: ByteReader): Interval {
  const code = r.u8()
  const interval = INTERVALS[code]
  if (interval === undefined) throw new ChaintapeError('message_unreadable', `unknown interval ${code}`)
  return interval
}

/**
 * Candles of one pair come one after the other, interval by interval, and have most in common: what is as in the
 * `previous` one is not written again. Which fields those are follows from the values alone.
 */
export function writeCandle(w: ByteWriter, candle: Candle, previous?: Candle): void {
  const isSamePair = previous !== undefined && candle.pair === previous.pair
  const isSameFirst = isSamePair && sameOrderKey(candle.firstTrade, previous.firstTrade)
  const isSameLast = isSamePair && sameOrderKey(candle.lastTrade, previous.lastTrade)
  w.u8((isSamePair ? SAME_PAIR : 0) | (isSameFirst ? SAME_FIRST : 0) | (isSameLast ? SAME_LAST : 0))
  if (!isSamePair) w.recurringId(candle.pair)
  w.u8(INTERVALS.indexOf(candle.interval))
  w.varuint(candle.start)
  const base = isSamePair ? previous : undefined
  writeCandleValues(w, candle.usd, base?.usd)
  writeCandleValues(w, candle.native, base?.native)
  w.varuint(candle.tradeCount)
  if (!isSameFirst) writeOrderKey(w, candle.firstTrade)
  if (!isSameLast) writeOrderKey(w, candle.lastTrade)
}

export function readCandle(r: ByteReader, previous?: Candle): Candle {
  const same = r.u8()
  if (same > (previous === undefined ? 0 : SAME_PAIR | SAME_FIRST | SAME_LAST)) {
    throw new ChaintapeError('message_unreadable', `a candle cannot begin with ${same}`)
  }
  const pair = previous !== undefined && same & SAME_PAIR ? previous.pair : r.id()
  const interval = readInterval(r)
  const start = r.varuint()
  const base = same & SAME_PAIR ? previous : undefined
  return {
    pair,
    interval,
    start,
    usd: readCandleValues(r, base?.usd),
    native: readCandleValues(r, base?.native),
    tradeCount: r.varuint(),
    firstTrade: previous !== undefined && same & SAME_FIRST ? previous.firstTrade : readOrderKey(r),
    lastTrade: previous !== undefined && same & SAME_LAST ? previous.lastTrade : readOrderKey(r),
  }
}

/** In the order of their intervals, usually all of one pair. */
export function writeCandles(w: ByteWriter, candles: readonly Candle[]): void {
  w.varuint(candles.length)
  for (let at = 0; at < candles.length; at++) writeCandle(w, candles[at] as Candle, candles[at - 1])
}

export function readCandles(r: ByteReader): Candle[] {
  let previous: Candle | undefined
  return r.list(() => {
    previous = readCandle(r, previous)
    return previous
  })
}

function writeCandleValues(
  w: ByteWriter,
  values: CandleValues | undefined,
  previous: CandleValues | undefined,
): void {
  if (values === undefined) {
    w.u8(NO_VALUES)
    return
  }
  if (values === previous) {
    w.u8(ALL_SAME)
    return
  }
  let same = 0
  if (values.open === previous?.open) same |= SAME_OPEN
  if (values.high === previous?.high) same |= SAME_HIGH
  if (values.low === previous?.low) same |= SAME_LOW
  if (values.close === previous?.close) same |= SAME_CLOSE
  if (values.volume === previous?.volume) same |= SAME_VOLUME
  w.u8(same)
  if (!(same & SAME_OPEN)) w.biguint(values.open)
  if (!(same & SAME_HIGH)) w.biguint(values.high)
  if (!(same & SAME_LOW)) w.biguint(values.low)
  if (!(same & SAME_CLOSE)) w.biguint(values.close)
  if (!(same & SAME_VOLUME)) w.biguint(values.volume)
}

function readCandleValues(r: ByteReader, previous: CandleValues | undefined): CandleValues | undefined {
  const same = r.u8()
  if (same === NO_VALUES) return undefined
  if (same > (previous === undefined ? 0 : ALL_SAME)) {
    throw new ChaintapeError('message_unreadable', `the values of a candle cannot begin with ${same}`)
  }
  if (previous !== undefined && same === ALL_SAME) return previous
  return {
    open: previous !== undefined && same & SAME_OPEN ? previous.open : r.biguint(),
    high: previous !== undefined && same & SAME_HIGH ? previous.high : r.biguint(),
    low: previous !== undefined && same & SAME_LOW ? previous.low : r.biguint(),
    close: previous !== undefined && same & SAME_CLOSE ? previous.close : r.biguint(),
    volume: previous !== undefined && same & SAME_VOLUME ? previous.volume : r.biguint(),
  }
}
