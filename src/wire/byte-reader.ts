import { base58Text } from '../domain/base58.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { BASE58_HEAD, BASE58_MARK } from './id-form.ts'

/** A power of two, so that the slot is a mask of the id's last bytes. */
const RECENT_IDS = 16_384
/** Longer ids are neither addresses nor hashes. */
const MAX_RECENT_BYTES = 34
/** Shared by all messages, because the same pools, tokens and routers recur. */
const recentIds: string[] = new Array(RECENT_IDS).fill('')
const recentBytes = new Uint8Array(RECENT_IDS * MAX_RECENT_BYTES)
const recentSizes = new Uint8Array(RECENT_IDS)

const WORD_BYTES = 8

/** The internal method behind `toString`: for a short id, its argument checks take as long as the work. */
type SlicingBuffer = Buffer & {
  hexSlice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
}

/** Reads the output of `ByteWriter`. Truncated or impossible bytes are a coded error. */
export class ByteReader {
  readonly #buffer: SlicingBuffer
  readonly #words: DataView
  readonly #memory: ArrayBufferLike
  readonly #offset: number
  #at: number
  #isSkimming = false

  constructor(bytes: Uint8Array, start = 0) {
    this.#at = start
    this.#buffer = (
      Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    ) as SlicingBuffer
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#memory = bytes.buffer
    this.#offset = bytes.byteOffset
  }

  /** Offset of the next byte. */
  get position(): number {
    return this.#at
  }

  /** Seeks to another field of the same message. */
  at(position: number): this {
    this.#at = position
    return this
  }

  get remaining(): number {
    return this.#buffer.length - this.#at
  }

  u8(): number {
    return this.#buffer[this.#take(1)] as number
  }

  bool(): boolean {
    const value = this.u8()
    if (value > 1) throw unreadable(`boolean is ${value}`)
    return value === 1
  }

  u16(): number {
    return this.#buffer.readUInt16BE(this.#take(2))
  }

  u32(): number {
    return this.#buffer.readUInt32BE(this.#take(4))
  }

  varuint(): number {
    const first = this.u8()
    if (first < 0x80) return first
    let value = first & 0x7f
    let unit = 0x80
    for (;;) {
      const byte = this.u8()
      value += (byte & 0x7f) * unit
      if (byte < 0x80) break
      unit *= 0x80
    }
    if (!Number.isSafeInteger(value)) throw unreadable('integer out of range')
    return value
  }

  biguint(): bigint {
    return this.biguintOf(this.u8())
  }

  /** A number of `size` bytes. */
  biguintOf(size: number): bigint {
    const at = this.#take(size)
    if (this.#isSkimming) return 0n
    // The top word may be partial; the words below it are complete.
    let word = at + size - (size % WORD_BYTES)
    let value = word === at + size ? 0n : this.#shortUint(word, at + size)
    while (word > at) {
      word -= WORD_BYTES
      const next = this.#words.getBigUint64(word, true)
      value = value === 0n ? next : (value << 64n) | next
    }
    return value
  }

  bytes(): Uint8Array {
    return this.raw(this.varuint())
  }

  raw(size: number): Uint8Array {
    const at = this.#take(size)
    return new Uint8Array(this.#memory, this.#offset + at, size)
  }

  text(): string {
    const size = this.varuint()
    const at = this.#take(size)
    return this.#buffer.utf8Slice(at, at + size)
  }

  id(): string {
    const tagged = this.varuint()
    const size = Math.floor(tagged / 2)
    const at = this.#take(size)
    if (tagged % 2 === 0) return `0x${this.#buffer.hexSlice(at, at + size)}`
    if (tagged === BASE58_HEAD && this.#buffer[at] === BASE58_MARK) return base58Text(this.#buffer, at + 1)
    return this.#buffer.utf8Slice(at, at + size)
  }

  /** Skips an id and returns its offset. */
  skipId(): number {
    const start = this.#at
    this.#take(Math.floor(this.varuint() / 2))
    return start
  }

  /**
   * An id that has probably occurred before: a log's topic, a pool, a router. A cache hit takes a third of the time of
   * building the string, and equal ids then share memory and hash, which speeds up map lookups.
   */
  recurringId(): string {
    const start = this.#at
    const buffer = this.#buffer
    const size = (buffer[start] ?? 0) >> 1
    // The last bytes of an address or a hash are nearly random.
    const last = start + size
    const slot =
      (((buffer[last] ?? 0) << 6) ^ (buffer[last - 1] ?? 0) ^ ((buffer[last - 2] ?? 0) << 3)) % RECENT_IDS
    if (this.#continuesWith(slot)) {
      this.#at += recentSizes[slot] as number
      return recentIds[slot] as string
    }
    const text = this.id()
    const length = this.#at - start
    if (length <= MAX_RECENT_BYTES) {
      recentIds[slot] = text
      recentSizes[slot] = length
      const place = slot * MAX_RECENT_BYTES
      for (let i = 0; i < length; i++) recentBytes[place + i] = buffer[start + i] as number
    }
    return text
  }

  /** Less than a word, little-endian. */
  #shortUint(start: number, end: number): bigint {
    // Six bytes always fit in a double exactly.
    const middle = Math.min(end, start + 6)
    let value = 0
    for (let at = middle - 1; at >= start; at--) value = value * 0x100 + (this.#buffer[at] as number)
    return middle === end ? BigInt(value) : BigInt(value) | (BigInt(this.#buffer[middle] as number) << 48n)
  }

  #continuesWith(slot: number): boolean {
    const buffer = this.#buffer
    const at = this.#at
    const size = recentSizes[slot] as number
    if (size === 0 || size > buffer.length - at) return false
    const place = slot * MAX_RECENT_BYTES
    // From the end, where two ids differ soonest.
    for (let i = size - 1; i >= 0; i--) if (recentBytes[place + i] !== buffer[at + i]) return false
    return true
  }

  list<T>(read: () => T): T[] {
    const count = this.varuint()
    // Each item takes at least a byte, so a larger count is damage and is refused before any allocation.
    if (count > this.remaining) throw unreadable(`list of ${count} items in ${this.remaining} bytes`)
    const items: T[] = []
    for (let i = 0; i < count; i++) items.push(read())
    return items
  }

  optional<T>(read: () => T): T | undefined {
    return this.bool() ? read() : undefined
  }

  /** Skips amounts and returns 0 for them, because building bigints takes most of the time. */
  skim<T>(read: () => T): T {
    this.#isSkimming = true
    try {
      return read()
    } finally {
      this.#isSkimming = false
    }
  }

  /** Trailing bytes mean that writer and reader disagree. */
  end(): void {
    if (this.remaining !== 0) throw unreadable(`${this.remaining} bytes left over`)
  }

  #take(size: number): number {
    const at = this.#at
    if (size > this.#buffer.length - at) throw unreadable('message ends early')
    this.#at = at + size
    return at
  }
}

function unreadable(reason: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', reason)
}
