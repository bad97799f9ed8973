import type { CandleValues } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { MAX_AMOUNT } from '../domain/limits.ts'
import { pow10 } from '../domain/money.ts'
import { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'

const CLOSE_AS_OPEN = 1
const HIGH_AS_HIGHER = 2
const LOW_AS_LOWER = 4
const NO_VOLUME = 8
const ALL_FLAGS = 15

/** Tags of a number: as it is, what it is more or less than the one before, or without the zeros at its end. */
const PLAIN = 0
const MORE = 1
const LESS = 2
const SCALED = 3
const TAG_SHIFT = 6
const SIZE_BITS = 63
/** Of the byte after a scaled number: how many zeros, and whether it is a difference, and which. */
const ZEROS_BITS = 63
const MAX_ZEROS = 63

const MIN_ZEROS = 6
const MIN_DIVISOR = pow10(MIN_ZEROS)
const ZERO_STEPS = [32, 16, 8, 4, 2, 1].map((count) => ({ count, divisor: pow10(count) }))

type Known = Omit<CandleValues, 'volume'> & { readonly volume: bigint }
const NONE: Known = { open: 0n, high: 0n, low: 0n, close: 0n, volume: 0n }

/** Most candles have their high and low at one end, and those of a single trade have one price: these are not repeated. */
export function writePackedValues(w: ByteWriter, list: readonly CandleValues[]): void {
  let previous = NONE
  for (const values of list) {
    const { open, high, low, close, volume } = values
    const isCloseAsOpen = close === open
    const isHighAsHigher = high === higher(open, close)
    const isLowAsLower = low === lower(open, close)
    w.u8(
      (isCloseAsOpen ? CLOSE_AS_OPEN : 0) |
        (isHighAsHigher ? HIGH_AS_HIGHER : 0) |
        (isLowAsLower ? LOW_AS_LOWER : 0) |
        (volume === undefined ? NO_VOLUME : 0),
    )
    writeNumber(w, open, previous.open)
    if (!isCloseAsOpen) writeNumber(w, close, previous.close)
    if (!isHighAsHigher) writeNumber(w, high, previous.high)
    if (!isLowAsLower) writeNumber(w, low, previous.low)
    if (volume !== undefined) writeNumber(w, volume, previous.volume)
    previous = { open, high, low, close, volume: volume ?? 0n }
  }
}

export function readPackedValues(bytes: Uint8Array): CandleValues[] {
  const r = new ByteReader(bytes)
  const list: CandleValues[] = []
  let previous = NONE
  while (r.remaining > 0) {
    const flags = r.u8()
    if (flags > ALL_FLAGS) throw unreadable(`the values of a packed candle cannot begin with ${flags}`)
    const open = readNumber(r, previous.open)
    const close = flags & CLOSE_AS_OPEN ? open : readNumber(r, previous.close)
    const high = flags & HIGH_AS_HIGHER ? higher(open, close) : readNumber(r, previous.high)
    const low = flags & LOW_AS_LOWER ? lower(open, close) : readNumber(r, previous.low)
    const volume = flags & NO_VOLUME ? undefined : readNumber(r, previous.volume)
    previous = { open, high, low, close, volume: volume ?? 0n }
    list.push({ open, high, low, close, volume })
  }
  return list
}

function writeNumber(w: ByteWriter, value: bigint, previous: bigint): void {
  // A longer one would run into the tag.
  if (value > MAX_AMOUNT) throw new RangeError('number too large for a packed candle')
  const isLess = value < previous
  const difference = isLess ? previous - value : value - previous
  // Only where it saves a byte: plain numbers are read sooner.
  const isDifference = difference << 8n <= value
  const number = isDifference ? difference : value
  const tag = isDifference ? (isLess ? LESS : MORE) : PLAIN
  const zeros = trailingZeros(number)
  if (zeros === 0) {
    w.taggedBiguint(tag, number)
    return
  }
  w.taggedBiguint(SCALED, number / pow10(zeros))
  w.u8(zeros | (tag << TAG_SHIFT))
}

function readNumber(r: ByteReader, previous: bigint): bigint {
  const head = r.u8()
  const number = r.biguintOf(head & SIZE_BITS)
  const tag = head >> TAG_SHIFT
  if (tag !== SCALED) return resolved(tag, number, previous)
  const scale = r.u8()
  return resolved(scale >> TAG_SHIFT, number * pow10(scale & ZEROS_BITS), previous)
}

function resolved(tag: number, number: bigint, previous: bigint): bigint {
  if (tag === PLAIN) return number
  return tag === MORE ? previous + number : previous - number
}

function higher(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** How many decimal zeros are worth leaving out: fixed-point numbers of few digits end in many. */
function trailingZeros(value: bigint): number {
  // A multiple of ten to the sixth is one of two to the sixth, which is quick to see.
  if (value === 0n || BigInt.asUintN(MIN_ZEROS, value) !== 0n || value % MIN_DIVISOR !== 0n) return 0
  let zeros = MIN_ZEROS
  let rest = value / MIN_DIVISOR
  for (const { count, divisor } of ZERO_STEPS) {
    if (zeros + count > MAX_ZEROS || rest % divisor !== 0n) continue
    rest /= divisor
    zeros += count
  }
  return zeros
}

function unreadable(reason: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', reason)
}
