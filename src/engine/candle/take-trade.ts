import { candleStart, INTERVALS } from '../../domain/interval.ts'
import { MAX_FIXED } from '../../domain/limits.ts'
import type { OrderKey } from '../../domain/order-key.ts'
import { add, clear, compare, copy, writeBigint } from '../../state/limbs.ts'
import { Memory } from '../../state/memory.ts'
import {
  type CandleRow,
  type CandlesRow,
  type CloseRow,
  NATIVE,
  QUOTE,
  type ReadCandleRow,
  type ReadCandlesRow,
  type ReadValuesRow,
  UNITS,
  USD,
  unitOfQuote,
  type ValuesRow,
} from './candle-rows.ts'
import type { Paid, TradeNumbers } from './candle-trade.ts'

const MOST = new Memory(8)
writeBigint(MOST, 0, MAX_FIXED)

/** The start of each interval's candle that contains `time`. */
export function candleStarts(time: number): number[] {
  return INTERVALS.map((interval) => candleStart(interval, time))
}

/**
 * Adds a trade to each of a pair's newest candles, and starts a new candle where the interval is over. `starts` are the
 * candle starts at the trade's time; `old` is a second view of the same row, to read while writing. Candles that began
 * with the same trade are adjacent and have the same trades, which are stored once, in the shortest of them. For most
 * pairs that is a single trade.
 */
export function takeTrade(
  row: CandlesRow,
  old: ReadCandlesRow,
  key: OrderKey,
  trade: TradeNumbers,
  starts: readonly number[],
): void {
  const standing = firstStanding(old, starts)
  if (standing > 0) {
    if (standing < INTERVALS.length) keepTrades(row, old, standing)
    startAnew(row, standing, key, trade, starts)
  }
  for (let at = standing; at < INTERVALS.length; at++) {
    const candle = row.candles.at(at)
    if (candle.isSame) continue
    candle.tradeCount++
    if (!hasSameQuote(candle, trade)) keepQuoteApart(candle, old.candles.at(at))
    addToUnits(candle, trade)
  }
  for (let unit = 0; unit < UNITS.length; unit++) setClose(row.closes.at(unit), trade.in(unit))
  row.lastBlock = key.block
  row.lastTx = key.tx
  row.lastLog = key.log
}

/** The number of candles, counted from the shortest, that a trade with these starts ends. */
export function endedCandles(row: ReadCandlesRow, starts: readonly number[]): number {
  return row.candles.at(0).tradeCount === 0 ? 0 : firstStanding(row, starts)
}

/** The first candle that continues. All longer ones continue too, because each contains the shorter ones. */
function firstStanding(row: ReadCandlesRow, starts: readonly number[]): number {
  if (row.candles.at(0).tradeCount === 0) return INTERVALS.length
  let at = 0
  while (at < INTERVALS.length && row.candles.at(at).start !== starts[at]) at++
  return at
}

/** Copies the shared trades into a candle that continues, before the shorter ones are reset. */
function keepTrades(row: CandlesRow, old: ReadCandlesRow, at: number): void {
  if (!old.candles.at(at).isSame) return
  let holder = at - 1
  while (old.candles.at(holder).isSame) holder--
  const from = old.candles.at(holder)
  const to = row.candles.at(at)
  to.isSame = false
  to.tradeCount = from.tradeCount
  to.firstBlock = from.firstBlock
  to.firstTx = from.firstTx
  to.firstLog = from.firstLog
  to.isQuoteUsd = from.isQuoteUsd
  to.isQuoteNative = from.isQuoteNative
  for (let unit = 0; unit < UNITS.length; unit++) copyValues(to.units.at(unit), from.units.at(unit))
}

/** Resets the candles before `end` to this one trade. */
function startAnew(
  row: CandlesRow,
  end: number,
  key: OrderKey,
  trade: TradeNumbers,
  starts: readonly number[],
): void {
  for (let at = 0; at < end; at++) {
    const candle = row.candles.at(at)
    candle.start = starts[at] as number
    if (at > 0 && candle.isSame) continue
    candle.isSame = at > 0
    candle.tradeCount = at > 0 ? 0 : 1
    candle.firstBlock = at > 0 ? 0 : key.block
    candle.firstTx = at > 0 ? 0 : key.tx
    candle.firstLog = at > 0 ? 0 : key.log
    for (let unit = 0; unit < UNITS.length; unit++) forget(candle.units.at(unit))
    candle.isQuoteUsd = at === 0 && trade.isQuoteUsd
    candle.isQuoteNative = at === 0 && trade.isQuoteNative && !trade.isQuoteUsd
    if (at === 0) addToUnits(candle, trade)
  }
}

function hasSameQuote({ isQuoteUsd, isQuoteNative }: CandleRow, trade: TradeNumbers): boolean {
  return (!isQuoteUsd || trade.isQuoteUsd) && (!isQuoteNative || trade.isQuoteNative)
}

/**
 * Stores the values in the quote asset separately, because the next trade differs in them. `old` is the same candle.
 */
function keepQuoteApart(candle: CandleRow, old: ReadCandleRow): void {
  copyValues(candle.units.at(QUOTE), old.units.at(unitOfQuote(old)))
  candle.isQuoteUsd = false
  candle.isQuoteNative = false
}

function addToUnits(candle: CandleRow, trade: TradeNumbers): void {
  addTrade(candle.units.at(USD), trade.in(USD))
  addTrade(candle.units.at(NATIVE), trade.in(NATIVE))
  if (unitOfQuote(candle) === QUOTE) addTrade(candle.units.at(QUOTE), trade.in(QUOTE))
}

function setClose({ words, priceAt }: CloseRow, paid: Paid): void {
  if (paid.hasPrice) copy(words, priceAt, paid.words, paid.priceAt)
}

/** A trade without a price in this unit changes nothing. */
function addTrade(values: ValuesRow, paid: Paid): void {
  if (!paid.hasPrice) return
  const { words } = values
  if (!values.isKnown) {
    values.isKnown = true
    copy(words, values.openAt, paid.words, paid.priceAt)
    copy(words, values.highAt, paid.words, paid.priceAt)
    copy(words, values.lowAt, paid.words, paid.priceAt)
    if (!paid.hasValue) return
    values.hasVolume = true
    copy(words, values.volumeAt, paid.words, paid.valueAt)
    return
  }
  if (compare(paid.words, paid.priceAt, words, values.highAt) > 0)
    copy(words, values.highAt, paid.words, paid.priceAt)
  if (compare(paid.words, paid.priceAt, words, values.lowAt) < 0)
    copy(words, values.lowAt, paid.words, paid.priceAt)
  if (!values.hasVolume) return
  // A volume only grows, so once it exceeds the limit it stays unknown.
  if (paid.hasValue) add(words, values.volumeAt, paid.words, paid.valueAt)
  if (!paid.hasValue || compare(words, values.volumeAt, MOST.words, 0) > 0) values.hasVolume = false
}

function copyValues(to: ValuesRow, from: ReadValuesRow): void {
  to.isKnown = from.isKnown
  copy(to.words, to.openAt, from.words, from.openAt)
  copy(to.words, to.highAt, from.words, from.highAt)
  copy(to.words, to.lowAt, from.words, from.lowAt)
  to.hasVolume = from.hasVolume
  copy(to.words, to.volumeAt, from.words, from.volumeAt)
}

function forget(values: ValuesRow): void {
  if (!values.isKnown) return
  values.isKnown = false
  clear(values.words, values.openAt)
  clear(values.words, values.highAt)
  clear(values.words, values.lowAt)
  values.hasVolume = false
}
