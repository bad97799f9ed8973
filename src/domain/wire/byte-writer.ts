const MAX_BIG_BYTES = 255

// A call into the engine's own conversions costs more than a short loop: what the logs are full of (addresses,
// hashes, prices, symbols) is converted here, byte by byte; what is long or rare is left to Buffer.
const SHORT_TEXT = 64
const NOT_HEX = 0x100
const HEX_DIGITS = new Uint16Array(128).fill(NOT_HEX)
for (let digit = 0; digit < 16; digit++) HEX_DIGITS[digit.toString(16).charCodeAt(0)] = digit

/** Where a big number is taken apart into words. */
const scratch = new Uint8Array(256)
const scratchWords = new DataView(scratch.buffer)

/** Appends values to one growing buffer. The counterpart of `ByteReader`, method for method. */
export class ByteWriter {
  #buffer: Buffer
  #length = 0

  constructor(capacity = 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity)
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
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#length++] = rest
  }

  /** Length, then big-endian bytes without leading zeros. */
  biguint(value: bigint): void {
    if (value < 0n) throw new RangeError('negative amount on the wire')
    let at = scratch.length
    let rest = value
    for (; rest !== 0n && at > 0; rest >>= 64n) {
      at -= 8
      scratchWords.setBigUint64(at, rest)
    }
    while (at < scratch.length && scratch[at] === 0) at++
    const size = scratch.length - at
    if (rest !== 0n || size > MAX_BIG_BYTES) throw new RangeError('number too large for the wire')
    this.#room(1 + size)
    const buffer = this.#buffer
    let to = this.#length
    buffer[to++] = size
    while (at < scratch.length) buffer[to++] = scratch[at++] as number
    this.#length = to
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
  }
}

function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code < HEX_DIGITS.length ? (HEX_DIGITS[code] as number) : NOT_HEX
}
