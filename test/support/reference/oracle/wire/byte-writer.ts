const MAX_BIG_BYTES = 255

// A call into the engine's own conversions costs more than a short loop: what the logs are full of (addresses,
// hashes, prices, symbols) is converted here, byte by byte; what is long or rare is left to Buffer.
const SHORT_TEXT = 64
const NOT_HEX = 0x100
const HEX_DIGITS = new Uint16Array(256).fill(NOT_HEX)
/** Of one letter of a string. */
const MAX_UTF8_BYTES = 3
for (let digit = 0; digit < 16; digit++) HEX_DIGITS[digit.toString(16).charCodeAt(0)] = digit

const WORD_BYTES = 8

/** A power of two, so that a few letters of an id tell its place. */
const RECENT_IDS = 16_384
/** What is longer is no address or hash: it is written as it comes. */
const MAX_RECENT_BYTES = 33
const MAX_RECENT_LETTERS = 66
/** Of all messages: the same pools, tokens and routers come again in the next one. */
const recentIds: string[] = new Array(RECENT_IDS).fill('')
const recentBytes = new Uint8Array(RECENT_IDS * MAX_RECENT_BYTES)
const recentSizes = new Uint8Array(RECENT_IDS)

/** What `write` calls once it has looked at its arguments, which for a short text takes as long as the work. */
type WritingBuffer = Buffer & { utf8Write(text: string, start: number): number }

/** Appends values to one growing buffer. The counterpart of `ByteReader`, method for method. */
export class ByteWriter {
  #buffer: WritingBuffer
  #words: DataView
  #length = 0

  constructor(capacity = 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity) as WritingBuffer
    this.#words = wordsOf(this.#buffer)
  }

  get length(): number {
    return this.#length
  }

  u8(value: number): void {
    if ((value & 0xff) !== value) throw new RangeError(`not a byte: ${value}`)
    this.#room(1)
    this.#buffer[this.#length++] = value
  }

  bool(value: boolean): void {
    this.u8(value ? 1 : 0)
  }

  u32(value: number): void {
    this.#room(4)
    this.#length = this.#buffer.writeUInt32BE(value, this.#length)
  }

  /** Seven bits a byte, lowest first; any safe integer. */
  varuint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not an unsigned integer: ${value}`)
    this.#room(8)
    if (value < 0x80) {
      this.#buffer[this.#length++] = value
      return
    }
    let rest = value
    // Whole numbers of the machine are divided by shifting; the rest of a larger one is soon small enough.
    while (rest > 0x7fff_ffff) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#buffer[this.#length++] = rest
  }

  /** Length, then little-endian bytes without zeros at the end. */
  biguint(value: bigint): void {
    if (value < 0n) throw new RangeError('negative amount on the wire')
    this.#room(1 + MAX_BIG_BYTES + WORD_BYTES)
    const start = this.#length + 1
    const limit = start + MAX_BIG_BYTES
    let at = start
    // Whole words into their place, the lowest first. Told that a word is all it takes, the machine cuts it off itself.
    for (let rest = value; rest !== 0n; rest >>= 64n) {
      if (at > limit) throw tooLarge()
      this.#words.setBigUint64(at, BigInt.asUintN(64, rest), true)
      at += WORD_BYTES
    }
    const buffer = this.#buffer
    while (at > start && buffer[at - 1] === 0) at--
    if (at > limit) throw tooLarge()
    buffer[start - 1] = at - start
    this.#length = at
  }

  bytes(value: Uint8Array): void {
    this.varuint(value.length)
    this.raw(value)
  }

  raw(value: Uint8Array): void {
    this.#room(value.length)
    this.#buffer.set(value, this.#length)
    this.#length += value.length
  }

  /** What another one has written there, as `bytes`. */
  bytesOf(other: ByteWriter, start: number, end: number): void {
    this.varuint(end - start)
    this.#room(end - start)
    this.#length += other.#buffer.copy(this.#buffer, this.#length, start, end)
  }

  /** Whether two pieces of what was written are equal. */
  isRepeated(startA: number, endA: number, startB: number, endB: number): boolean {
    return (
      endA - startA === endB - startB && this.#buffer.compare(this.#buffer, startB, endB, startA, endA) === 0
    )
  }

  /** To be written anew; the room it has grown to stays. */
  clear(): void {
    this.#length = 0
  }

  text(value: string): void {
    if (value.length < SHORT_TEXT && this.#ascii(value, value.length)) return
    const size = Buffer.byteLength(value)
    this.varuint(size)
    this.#utf8(value, size)
  }

  /** An address or hash: hex ones shrink to their bytes, all others travel as text. The low bit tells which. */
  id(value: string): void {
    if (this.#hex(value)) return
    if (value.length < SHORT_TEXT && this.#ascii(value, value.length * 2 + 1)) return
    const size = Buffer.byteLength(value)
    this.varuint(size * 2 + 1)
    this.#utf8(value, size)
  }

  /**
   * The same of an id that recurs from message to message: a pool, a token, a router. Copying what was written
   * before takes a third of the time of reading its digits again. Bytes and reader are those of `id`.
   */
  recurringId(value: string): void {
    if (value.length < 8 || value.length > MAX_RECENT_LETTERS) {
      this.id(value)
      return
    }
    const slot = slotOf(value)
    const place = slot * MAX_RECENT_BYTES
    if (recentIds[slot] === value) {
      const size = recentSizes[slot] as number
      this.#room(size)
      const buffer = this.#buffer
      const at = this.#length
      for (let i = 0; i < size; i++) buffer[at + i] = recentBytes[place + i] as number
      this.#length = at + size
      return
    }
    const start = this.#length
    this.id(value)
    const size = this.#length - start
    if (size > MAX_RECENT_BYTES) return
    recentIds[slot] = value
    recentSizes[slot] = size
    for (let i = 0; i < size; i++) recentBytes[place + i] = this.#buffer[start + i] as number
  }

  list<T>(items: readonly T[], write: (item: T) => void): void {
    this.varuint(items.length)
    for (const item of items) write(item)
  }

  optional<T>(value: T | undefined, write: (value: T) => void): void {
    this.bool(value !== undefined)
    if (value !== undefined) write(value)
  }

  /** What was written so far, as a copy that later writes cannot touch. */
  finish(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#buffer, 0, this.#length)
  }

  /** Writes nothing and says so, unless all of `value` is lower-case hex after 0x. */
  #hex(value: string): boolean {
    if (value.length % 2 !== 0 || !value.startsWith('0x')) return false
    const start = this.#length
    this.varuint(value.length - 2)
    // Its letters first, then the bytes over them: letters are read far quicker from a buffer than from a string.
    this.#room(value.length * MAX_UTF8_BYTES)
    const buffer = this.#buffer
    let at = this.#length
    const end = at + buffer.utf8Write(value, at)
    let all = 0
    for (let i = at + 2; i < end; i += 2) {
      const byte =
        ((HEX_DIGITS[buffer[i] as number] as number) << 4) | (HEX_DIGITS[buffer[i + 1] as number] as number)
      all |= byte
      buffer[at++] = byte
    }
    const isHex = all <= 0xff
    this.#length = isHex ? at : start
    return isHex
  }

  /** Writes nothing and says so, unless all of `value` is ASCII. */
  #ascii(value: string, header: number): boolean {
    const start = this.#length
    this.varuint(header)
    this.#room(value.length)
    const buffer = this.#buffer
    let at = this.#length
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) {
        this.#length = start
        return false
      }
      buffer[at++] = code
    }
    this.#length = at
    return true
  }

  #utf8(value: string, size: number): void {
    this.#room(size)
    this.#buffer.write(value, this.#length)
    this.#length += size
  }

  #room(size: number): void {
    const needed = this.#length + size
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2)) as WritingBuffer
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
    this.#words = wordsOf(larger)
  }
}

function wordsOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
}

function tooLarge(): RangeError {
  return new RangeError('number too large for the wire')
}

/** The last letters of an address or a hash are as good as random. */
function slotOf(id: string): number {
  const last = id.length - 1
  const near = id.charCodeAt(last) ^ (id.charCodeAt(last - 1) << 3) ^ (id.charCodeAt(last - 2) << 6)
  return (near ^ (id.charCodeAt(last - 3) << 8) ^ (id.charCodeAt(last - 4) << 4)) & (RECENT_IDS - 1)
}
