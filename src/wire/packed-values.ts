import type { CandleValues } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { NO_VALUES, NO_VOLUME } from './candle-codec.ts'

const CLOSE_AS_OPEN = 1
const HIGH_AS_OPEN = 2
const HIGH_AS_CLOSE = 4
const LOW_AS_OPEN = 8
const LOW_AS_CLOSE = 16
const WITHOUT_VOLUME = 32
const ALL_FLAGS = 63

/** The first byte of a number: its length, and above it the count of top bytes shared with the previous number. */
const SHARED_SHIFT = 6
const SIZE_BITS = 63
const MAX_SHARED = 3

const [OPEN, HIGH, LOW, CLOSE, VOLUME] = [0, 1, 2, 3, 4]
const FIELDS = 5
const SHIFTS = Array.from({ length: SIZE_BITS + 1 }, (_, bytes) => BigInt(bytes * 8))

/** The last number of each field: its size, and its top bytes, highest first. */
class LastNumbers {
  readonly #sizes = new Uint8Array(FIELDS)
  readonly #tops = new Uint8Array(FIELDS * MAX_SHARED)

  /** Number of top bytes that the number ending at `end` shares with the last one. */
  sharedWith(field: number, bytes: Uint8Array, size: number, end: number): number {
    if (this.#sizes[field] !== size) return 0
    const most = Math.min(MAX_SHARED, size)
    let shared = 0
    while (shared < most && bytes[end - 1 - shared] === this.#tops[field * MAX_SHARED + shared]) shared++
    return shared
  }

  /** The top bytes of the last number; undefined if it has another size. */
  top(field: number, size: number, shared: number): number | undefined {
    if (this.#sizes[field] !== size) return undefined
    let value = 0
    for (let nth = 0; nth < shared; nth++) {
      value = value * 256 + (this.#tops[field * MAX_SHARED + nth] as number)
    }
    return value
  }

  /** Stores a number whose own bytes, below the shared ones, end at `end`. */
  put(field: number, bytes: Uint8Array, size: number, shared: number, end: number): void {
    this.#sizes[field] = size
    for (let nth = shared; nth < MAX_SHARED && nth < size; nth++) {
      this.#tops[field * MAX_SHARED + nth] = bytes[end - 1 - (nth - shared)] as number
    }
  }
}

/** Packs the values of candles in one unit, from bytes encoded by `writeCandleBody`. */
export class ValuesPacker {
  readonly bytes = new ByteWriter(1_024)
  readonly #last = new LastNumbers()

  /** Adds the values at this offset and returns their end. Unknown values take no room. */
  add(body: Uint8Array, at: number): number {
    const mask = body[at]
    if (mask === NO_VALUES) return at + 1
    const open = at + 1
    const high = endOf(body, open)
    const low = endOf(body, high)
    const close = endOf(body, low)
    const volume = endOf(body, close)
    const hasVolume = mask !== NO_VOLUME
    // Most candles have their high and low at open or close, and those of a single trade have one price.
    const isCloseAsOpen = isEqual(body, close, open)
    const highFlag = isEqual(body, high, open) ? HIGH_AS_OPEN : isEqual(body, high, close) ? HIGH_AS_CLOSE : 0
    const lowFlag = isEqual(body, low, open) ? LOW_AS_OPEN : isEqual(body, low, close) ? LOW_AS_CLOSE : 0
    this.bytes.u8((isCloseAsOpen ? CLOSE_AS_OPEN : 0) | highFlag | lowFlag | (hasVolume ? 0 : WITHOUT_VOLUME))
    this.#number(body, open, OPEN)
    if (!isCloseAsOpen) this.#number(body, close, CLOSE)
    if (highFlag === 0) this.#number(body, high, HIGH)
    if (lowFlag === 0) this.#number(body, low, LOW)
    if (!hasVolume) return volume
    this.#number(body, volume, VOLUME)
    return endOf(body, volume)
  }

  #number(body: Uint8Array, at: number, field: number): void {
    const size = body[at] as number
    if (size > SIZE_BITS) throw new RangeError('number too large for a packed candle')
    const end = at + 1 + size
    const shared = this.#last.sharedWith(field, body, size, end)
    this.#last.put(field, body, size, 0, end)
    this.bytes.u8(size | (shared << SHARED_SHIFT))
    this.bytes.copy(body, at + 1, end - shared)
  }
}

export function readPackedValues(bytes: Uint8Array): CandleValues[] {
  const r = new ByteReader(bytes)
  const last = new LastNumbers()
  const list: CandleValues[] = []
  while (r.remaining > 0) {
    const flags = r.u8()
    if (flags > ALL_FLAGS) throw unreadable(`the values of a packed candle cannot begin with ${flags}`)
    const open = readNumber(r, bytes, last, OPEN)
    const close = flags & CLOSE_AS_OPEN ? open : readNumber(r, bytes, last, CLOSE)
    const high =
      flags & HIGH_AS_OPEN ? open : flags & HIGH_AS_CLOSE ? close : readNumber(r, bytes, last, HIGH)
    const low = flags & LOW_AS_OPEN ? open : flags & LOW_AS_CLOSE ? close : readNumber(r, bytes, last, LOW)
    const volume = flags & WITHOUT_VOLUME ? undefined : readNumber(r, bytes, last, VOLUME)
    list.push({ open, high, low, close, volume })
  }
  return list
}

function readNumber(r: ByteReader, bytes: Uint8Array, last: LastNumbers, field: number): bigint {
  const head = r.u8()
  const size = head & SIZE_BITS
  const shared = head >> SHARED_SHIFT
  if (shared === 0) {
    const value = r.biguintOf(size)
    last.put(field, bytes, size, 0, r.position)
    return value
  }
  const top = shared > size ? undefined : last.top(field, size, shared)
  if (top === undefined) throw unreadable('a number shares bytes with none')
  const own = r.biguintOf(size - shared)
  last.put(field, bytes, size, shared, r.position)
  return (BigInt(top) << (SHIFTS[size - shared] as bigint)) | own
}

/** The end of the number at this offset. */
function endOf(body: Uint8Array, at: number): number {
  return at + 1 + (body[at] ?? 0)
}

function isEqual(body: Uint8Array, a: number, b: number): boolean {
  const size = body[a] as number
  for (let i = 0; i <= size; i++) if (body[a + i] !== body[b + i]) return false
  return true
}

function unreadable(reason: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', reason)
}
