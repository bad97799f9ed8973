import { MAX_TIME } from '../domain/limits.ts'
import {
  ALL_AS_CLOSE,
  ALL_FLAGS,
  ALL_SAME,
  AROUND,
  AS_NATIVE,
  AS_USD,
  INTERVAL_COUNT,
  NO_VALUES,
  NO_VOLUME,
  SAME_CLOSE,
  SAME_FIRST,
  SAME_LAST,
  SAME_PAIR,
  SAME_TRADES,
  SAME_VOLUME,
  startAround,
} from './candle-codec.ts'
import { CANDLE, CANDLE_REMOVED } from './change-layouts.ts'
import { FIRST_FIELD } from './record-layout.ts'
import { type RecordScanner, unreadable } from './record-scanner.ts'

const { pair, interval, start, usdOpen, nativeOpen, quoteAs, quoteOpen } = CANDLE.slots
const { tradeCount, firstBlock, lastBlock, trades } = CANDLE.slots
/** Open, high, low, close and volume are adjacent. */
const VALUES = 5
const CLOSE = 3
const VOLUME = 4
const QUOTE_AS_USD = 1
const QUOTE_AS_NATIVE = 2

/** Scans a run of delta-coded candles. Returns their number. */
export function scanCandles(scanner: RecordScanner): number {
  const count = scanner.varuint()
  if (count > scanner.bytes.length - scanner.position) throw unreadable(`${count} candles at the end`)
  let previous = -1
  for (let i = 0; i < count; i++) {
    const base = scanner.begin(CANDLE)
    scanCandle(scanner, base, previous)
    scanner.end(base)
    previous = base
  }
  return count
}

export function scanCandleRef(scanner: RecordScanner): void {
  const base = scanner.begin(CANDLE_REMOVED)
  scanRef(scanner, base)
  scanner.end(base)
}

function scanCandle(scanner: RecordScanner, base: number, previous: number): void {
  const { places } = scanner
  const same = scanner.byte()
  if (previous < 0 || !(same & SAME_PAIR)) {
    if (same !== 0) throw badStart(same)
    scanRef(scanner, base)
    scanTrades(scanner, base, -1, same)
    return
  }
  if (same > ALL_FLAGS) throw badStart(same)
  places.copyWithin(base + FIRST_FIELD, previous + FIRST_FIELD, previous + CANDLE.size)
  if (same & AROUND) {
    const code = (places[previous + interval] as number) + 1
    if (code >= INTERVAL_COUNT) throw badStart(same)
    places[base + interval] = code
    places[base + start] = startAround(code, places[previous + start] as number)
  } else scanIntervalAndStart(scanner, base)
  if (!(same & SAME_TRADES)) scanTrades(scanner, base, previous, same)
}

function scanRef(scanner: RecordScanner, base: number): void {
  scanner.places[base + pair] = scanner.passId()
  scanIntervalAndStart(scanner, base)
}

function scanIntervalAndStart(scanner: RecordScanner, base: number): void {
  const code = scanner.byte()
  if (!(code < INTERVAL_COUNT)) throw unreadable(`unknown interval ${code}`)
  const time = scanner.varuint()
  if (time > MAX_TIME) throw unreadable(`no column can hold time ${time}`)
  scanner.places[base + interval] = code
  scanner.places[base + start] = time
}

function scanTrades(scanner: RecordScanner, base: number, previous: number, same: number): void {
  const { places } = scanner
  places[base + trades] = base
  scanValues(scanner, base + usdOpen, scanner.byte())
  scanValues(scanner, base + nativeOpen, scanner.byte())
  scanQuote(scanner, base, previous)
  places[base + tradeCount] = scanner.passVaruint()
  if (!(same & SAME_FIRST)) scanOrderKey(scanner, base + firstBlock)
  if (!(same & SAME_LAST)) scanOrderKey(scanner, base + lastBlock)
}

/** Values equal to those of another unit get no slots of their own. */
function scanQuote(scanner: RecordScanner, base: number, previous: number): void {
  const { places } = scanner
  const same = scanner.byte()
  const unit =
    same === AS_USD && places[base + usdOpen] !== 0
      ? QUOTE_AS_USD
      : same === AS_NATIVE && places[base + nativeOpen] !== 0
        ? QUOTE_AS_NATIVE
        : 0
  places[base + quoteAs] = unit
  if (unit !== 0) {
    places.fill(0, base + quoteOpen, base + quoteOpen + VALUES)
    return
  }
  const before = previous < 0 ? 0 : (places[previous + quoteAs] as number)
  if (before !== 0) {
    const from = previous + (before === QUOTE_AS_USD ? usdOpen : nativeOpen)
    places.copyWithin(base + quoteOpen, from, from + VALUES)
  }
  scanValues(scanner, base + quoteOpen, same)
}

/** The slots already hold the previous candle's offsets. */
function scanValues(scanner: RecordScanner, slot: number, same: number): void {
  const { places } = scanner
  if (same === NO_VALUES) {
    places.fill(0, slot, slot + VALUES)
    return
  }
  const isWithoutVolume = (same & NO_VOLUME) === NO_VOLUME
  const sameAsPrevious = isWithoutVolume ? same & ~NO_VOLUME : same
  const isFirst = places[slot] === 0
  if (!(sameAsPrevious <= (isFirst ? ALL_AS_CLOSE : ALL_SAME))) {
    throw unreadable(`the values of a candle cannot begin with ${same}`)
  }
  // Prices equal to the close have its offset.
  if (isFirst) {
    const closeAt = scanner.passBiguint()
    for (let i = 0; i <= CLOSE; i++) places[slot + i] = closeAt
  }
  for (let i = 0; i < CLOSE; i++) if (!(same & (1 << i))) places[slot + i] = scanner.passBiguint()
  if (!isFirst && !(same & SAME_CLOSE)) places[slot + CLOSE] = scanner.passBiguint()
  if (isWithoutVolume) places[slot + VOLUME] = 0
  else if (!(same & SAME_VOLUME)) places[slot + VOLUME] = scanner.passBiguint()
}

function scanOrderKey(scanner: RecordScanner, slot: number): void {
  const { places } = scanner
  places[slot] = scanner.passVaruint()
  places[slot + 1] = scanner.passVaruint()
  places[slot + 2] = scanner.passVaruint()
}

function badStart(same: number): Error {
  return unreadable(`a candle cannot begin with ${same}`)
}
