import type { Candle, CandleRef, CandleValues } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { candleStart, INTERVALS, type Interval } from '../domain/interval.ts'
import { sameOrderKey } from '../domain/order-key.ts'
import { quoteUnit, sameValues } from '../domain/quote-unit.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readOrderKey, writeOrderKey } from './field-codec.ts'

export const SAME_PAIR = 1
export const SAME_FIRST = 2
export const SAME_LAST = 4
/** The candle has the next longer interval and contains the previous one. */
export const AROUND = 8
/** The candle has the same trades as the previous one. */
export const SAME_TRADES = 16
export const ALL_FLAGS = SAME_PAIR | SAME_FIRST | SAME_LAST | AROUND | SAME_TRADES

export const SAME_OPEN = 1
export const SAME_HIGH = 2
export const SAME_LOW = 4
export const SAME_CLOSE = 8
export const SAME_VOLUME = 16
const ALL_PRICES = SAME_OPEN | SAME_HIGH | SAME_LOW | SAME_CLOSE
/** The most that values without previous ones can have. */
export const ALL_AS_CLOSE = SAME_OPEN | SAME_HIGH | SAME_LOW
export const ALL_SAME = ALL_PRICES | SAME_VOLUME
export const NO_VALUES = 32
/** The volume is unknown. This combination of bits is otherwise unused. */
export const NO_VOLUME = NO_VALUES | SAME_VOLUME
/** The values in the quote token equal those in this unit. */
export const AS_USD = 64
export const AS_NATIVE = 128

export const INTERVAL_COUNT = INTERVALS.length
const NEXT_CODE = Object.fromEntries(INTERVALS.map((interval, code) => [interval, code + 1])) as Record<
  Interval,
  number
>
const aroundTimes: (number | undefined)[] = INTERVALS.map(() => undefined)
const aroundStarts: number[] = INTERVALS.map(() => 0)

export function writeCandleRef(w: ByteWriter, ref: CandleRef): void {
  w.recurringId(ref.pair)
  w.u8(INTERVALS.indexOf(ref.interval))
  w.varuint(ref.start)
}

export function readCandleRef(r: ByteReader): CandleRef {
  return { pair: r.recurringId(), interval: readInterval(r), start: r.varuint() }
}

function readInterval(r: ByteReader): Interval {
  const code = r.u8()
  const interval = INTERVALS[code]
  if (interval === undefined) throw new ChaintapeError('message_unreadable', `unknown interval ${code}`)
  return interval
}

/**
 * Delta coding: candles of one pair are adjacent, interval by interval, and mostly equal, so fields equal to those of
 * `previous` are omitted. Which ones are omitted follows from the values alone. For a pair that trades rarely, most
 * candles take a single byte. Reader and writer are by hand, because what is written depends on flags.
 */
export function writeCandle(w: ByteWriter, candle: Candle, previous?: Candle): void {
  if (previous === undefined || candle.pair !== previous.pair) {
    w.u8(0)
    w.recurringId(candle.pair)
    w.u8(INTERVALS.indexOf(candle.interval))
    w.varuint(candle.start)
    writeTrades(w, candle, 0, undefined)
    return
  }
  const isAround = isAroundPrevious(candle, previous)
  let same = isAround ? SAME_PAIR | AROUND : SAME_PAIR
  if (sameOrderKey(candle.firstTrade, previous.firstTrade)) same |= SAME_FIRST
  if (sameOrderKey(candle.lastTrade, previous.lastTrade)) same |= SAME_LAST
  const isSameTrades =
    (same & SAME_FIRST) !== 0 &&
    (same & SAME_LAST) !== 0 &&
    candle.tradeCount === previous.tradeCount &&
    sameValues(candle.usd, previous.usd) &&
    sameValues(candle.native, previous.native) &&
    sameValues(candle.quote, previous.quote)
  w.u8(isSameTrades ? same | SAME_TRADES : same)
  if (!isAround) {
    w.u8(INTERVALS.indexOf(candle.interval))
    w.varuint(candle.start)
  }
  if (!isSameTrades) writeTrades(w, candle, same, previous)
}

function writeTrades(w: ByteWriter, candle: Candle, same: number, previous: Candle | undefined): void {
  writeCandleValues(w, candle.usd, previous?.usd)
  writeCandleValues(w, candle.native, previous?.native)
  writeQuoteValues(w, candle, previous?.quote)
  w.varuint(candle.tradeCount)
  if (!(same & SAME_FIRST)) writeOrderKey(w, candle.firstTrade)
  if (!(same & SAME_LAST)) writeOrderKey(w, candle.lastTrade)
}

export function readCandle(r: ByteReader, previous?: Candle): Candle {
  const same = r.u8()
  if (previous === undefined || !(same & SAME_PAIR)) {
    if (same !== 0) throw badStart(same)
    const { pair, interval, start } = readCandleRef(r)
    return readTrades(r, pair, interval, start, same, undefined)
  }
  if (same > ALL_FLAGS) throw badStart(same)
  let interval: Interval
  let start: number
  if (same & AROUND) {
    const code = nextCode(previous.interval)
    if (code >= INTERVALS.length) throw badStart(same)
    interval = INTERVALS[code] as Interval
    start = startAround(code, previous.start)
  } else {
    interval = readInterval(r)
    start = r.varuint()
  }
  const { pair } = previous
  if (!(same & SAME_TRADES)) return readTrades(r, pair, interval, start, same, previous)
  const { usd, native, quote, tradeCount, firstTrade, lastTrade } = previous
  return { pair, interval, start, usd, native, quote, tradeCount, firstTrade, lastTrade }
}

function readTrades(
  r: ByteReader,
  pair: string,
  interval: Interval,
  start: number,
  same: number,
  previous: Candle | undefined,
): Candle {
  const usd = readCandleValues(r, r.u8(), previous?.usd)
  const native = readCandleValues(r, r.u8(), previous?.native)
  return {
    pair,
    interval,
    start,
    usd,
    native,
    quote: readQuoteValues(r, usd, native, previous?.quote),
    tradeCount: r.varuint(),
    firstTrade: previous !== undefined && same & SAME_FIRST ? previous.firstTrade : readOrderKey(r),
    lastTrade: previous !== undefined && same & SAME_LAST ? previous.lastTrade : readOrderKey(r),
  }
}

function isAroundPrevious(candle: Candle, previous: Candle): boolean {
  const code = nextCode(previous.interval)
  return INTERVALS[code] === candle.interval && startAround(code, previous.start) === candle.start
}

function nextCode(interval: Interval): number {
  return NEXT_CODE[interval]
}

/**
 * Start of the candle of this interval that contains `time`. Cached, because all pairs of a block need the same starts.
 */
export function startAround(code: number, time: number): number {
  if (aroundTimes[code] !== time) {
    aroundTimes[code] = time
    aroundStarts[code] = candleStart(INTERVALS[code] as Interval, time)
  }
  return aroundStarts[code] as number
}

function badStart(same: number): ChaintapeError {
  return new ChaintapeError('message_unreadable', `a candle cannot begin with ${same}`)
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

/**
 * Values without previous ones begin with the close, and prices that equal it are omitted: most candles of a second have
 * one trade.
 */
function writeCandleValues(
  w: ByteWriter,
  values: CandleValues | undefined,
  previous: CandleValues | undefined,
): void {
  if (values === undefined) {
    w.u8(NO_VALUES)
    return
  }
  const { open, high, low, close, volume } = values
  let same = 0
  if (open === (previous?.open ?? close)) same |= SAME_OPEN
  if (high === (previous?.high ?? close)) same |= SAME_HIGH
  if (low === (previous?.low ?? close)) same |= SAME_LOW
  if (close === previous?.close) same |= SAME_CLOSE
  if (same === ALL_PRICES && volume === previous?.volume) same = ALL_SAME
  else if (volume === undefined) same |= NO_VOLUME
  else if (volume === previous?.volume) same |= SAME_VOLUME
  w.u8(same)
  if (previous === undefined) w.biguint(close)
  if (!(same & SAME_OPEN)) w.biguint(open)
  if (!(same & SAME_HIGH)) w.biguint(high)
  if (!(same & SAME_LOW)) w.biguint(low)
  if (previous !== undefined && !(same & SAME_CLOSE)) w.biguint(close)
  if (volume !== undefined && !(same & SAME_VOLUME)) w.biguint(volume)
}

function writeQuoteValues(w: ByteWriter, candle: Candle, previous: CandleValues | undefined): void {
  const unit = quoteUnit(candle)
  if (unit === undefined) writeCandleValues(w, candle.quote, previous)
  else w.u8(unit === 'usd' ? AS_USD : AS_NATIVE)
}

function readQuoteValues(
  r: ByteReader,
  usd: CandleValues | undefined,
  native: CandleValues | undefined,
  previous: CandleValues | undefined,
): CandleValues | undefined {
  const same = r.u8()
  if (same === AS_USD && usd !== undefined) return usd
  if (same === AS_NATIVE && native !== undefined) return native
  return readCandleValues(r, same, previous)
}

function readCandleValues(
  r: ByteReader,
  same: number,
  previous: CandleValues | undefined,
): CandleValues | undefined {
  if (same === NO_VALUES) return undefined
  const isWithoutVolume = (same & NO_VOLUME) === NO_VOLUME
  const sameAsPrevious = isWithoutVolume ? same & ~NO_VOLUME : same
  if (sameAsPrevious > (previous === undefined ? ALL_AS_CLOSE : ALL_SAME)) throw badValues(same)
  if (previous !== undefined && same === ALL_SAME) return previous
  const first = previous === undefined ? r.biguint() : undefined
  const open = same & SAME_OPEN ? (previous?.open ?? first) : r.biguint()
  const high = same & SAME_HIGH ? (previous?.high ?? first) : r.biguint()
  const low = same & SAME_LOW ? (previous?.low ?? first) : r.biguint()
  const close = first ?? (same & SAME_CLOSE ? previous?.close : r.biguint())
  const volume = isWithoutVolume ? undefined : same & SAME_VOLUME ? previous?.volume : r.biguint()
  return { open, high, low, close, volume } as CandleValues
}

export function badValues(same: number): ChaintapeError {
  return new ChaintapeError('message_unreadable', `the values of a candle cannot begin with ${same}`)
}
