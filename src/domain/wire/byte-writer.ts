const MAX_BIG_BYTES = 255

// A call into the engine's own conversions costs more than a short loop: what the logs are full of (addresses,
// hashes, prices, symbols) is converted here, byte by byte; what is long or rare is left to Buffer.
const SHORT_TEXT = 64
const NOT_HEX = 0x100
const HEX_DIGITS = new Uint16Array(128).fill(NOT_HEX)
for (let digit = 0; digit < 16; digit++) HEX_DIGITS[digit.toString(16).charCodeAt(0)] = digit

const WORD_BYTES = 8

const RECENT_IDS = 50_000
const recentIds = new Map<string, Uint8Array>()

/** Appends values to one growing buffer. The counterpart of `ByteReader`, method for method. */
export class ByteWriter {
  #buffer: Buffer
  #words: DataView
  #length = 0

  constructor(capacity = 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity)
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
    // Whole words into their place, the lowest first: whatever lies beyond one is cut off.
    for (let rest = value; rest !== 0n; rest >>= 64n) {
      if (at > limit) throw tooLarge()
      this.#words.setBigUint64(at, rest, true)
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
    const known = recentIds.get(value)
    if (known !== undefined) {
      this.raw(known)
      return
    }
    const start = this.#length
    this.id(value)
    if (recentIds.size >= RECENT_IDS) recentIds.clear()
    recentIds.set(value, Uint8Array.prototype.slice.call(this.#buffer, start, this.#length))
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
    const size = (value.length - 2) >> 1
    this.varuint(size * 2)
    this.#room(size)
    const buffer = this.#buffer
    let at = this.#length
    for (let i = 2; i < value.length; i += 2) {
      const byte = (hexDigit(value, i) << 4) | hexDigit(value, i + 1)
      if (byte > 0xff) {
        this.#length = start
        return false
      }
      buffer[at++] = byte
    }
    this.#length = at
    return true
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
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
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

function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code < HEX_DIGITS.length ? (HEX_DIGITS[code] as number) : NOT_HEX
}
