import { ChaintapeError } from '../errors.ts'

const RECENT_IDS = 64

/** Where a big number is put together from words. */
const scratch = new Uint8Array(256)
const scratchWords = new DataView(scratch.buffer)

/** What `toString` calls once it has looked at its arguments, which for a short id takes as long as the work. */
type SlicingBuffer = Buffer & {
  hexSlice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
}

/** Reads what `ByteWriter` wrote. Bytes that end early or say something impossible are a coded error. */
export class ByteReader {
  readonly #buffer: SlicingBuffer
  readonly #memory: ArrayBufferLike
  readonly #offset: number
  readonly #recentIds: ({ start: number; end: number; text: string } | undefined)[] = []
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) as SlicingBuffer
    this.#memory = bytes.buffer
    this.#offset = bytes.byteOffset
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
    const size = this.u8()
    const at = this.#take(size)
    let word = scratch.length - ((size + 7) & ~7)
    if (word === scratch.length) return 0n
    scratchWords.setBigUint64(word, 0n)
    for (let i = 0; i < size; i++) scratch[scratch.length - size + i] = this.#buffer[at + i] as number
    let value = scratchWords.getBigUint64(word)
    for (word += 8; word < scratch.length; word += 8) value = (value << 64n) | scratchWords.getBigUint64(word)
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
    return tagged % 2 === 0
      ? `0x${this.#buffer.hexSlice(at, at + size)}`
      : this.#buffer.utf8Slice(at, at + size)
  }

  /**
   * An id that may well have come before in this message: a log's topic, a pool, a router. Finding it again
   * takes a third of the time of making its string, and equal ids then share memory and hash.
   */
  recurringId(): string {
    const start = this.#at
    const size = (this.#buffer[start] ?? 0) >> 1
    // The last byte of an address or a hash is as good as random.
    const slot = (this.#buffer[start + size] ?? 0) % RECENT_IDS
    const known = this.#recentIds[slot]
    if (known !== undefined && this.#repeats(known.start, known.end)) {
      this.#at += known.end - known.start
      return known.text
    }
    const text = this.id()
    this.#recentIds[slot] = { start, end: this.#at, text }
    return text
  }

  /** Whether the bytes to be read next are those between `start` and `end`. */
  #repeats(start: number, end: number): boolean {
    const buffer = this.#buffer
    const at = this.#at
    if (end - start > buffer.length - at) return false
    for (let i = end - start - 1; i >= 0; i--) if (buffer[start + i] !== buffer[at + i]) return false
    return true
  }

  list<T>(read: () => T): T[] {
    const count = this.varuint()
    // Each item takes at least a byte, so a larger count is damage: refuse it before allocating for it.
    if (count > this.remaining) throw unreadable(`list of ${count} items in ${this.remaining} bytes`)
    const items: T[] = []
    for (let i = 0; i < count; i++) items.push(read())
    return items
  }

  optional<T>(read: () => T): T | undefined {
    return this.bool() ? read() : undefined
  }

  /** Nothing may be left over: trailing bytes mean writer and reader disagree. */
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
