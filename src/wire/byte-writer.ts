import { BASE58_BYTES, readBase58 } from '../domain/base58.ts'
import { ByteReader } from './byte-reader.ts'
import { MAX_UTF8_BYTES, mayBeHex, NOT_HEX, readHex, type WritingBuffer } from './hex.ts'
import { BASE58_HEAD, BASE58_MARK, BASE58_START } from './id-form.ts'
import { IS_TEXT, MAX_ID_TEXT, writeIdText } from './id-text.ts'
import { cacheId, copyRecentId, isCacheable, MAX_RECENT_BYTES, slotOf } from './recent-ids.ts'

const MAX_BIG_BYTES = 255

// A call into V8's native conversions costs more than a short loop, so symbols and small slices are copied byte by byte;
// long or rare ones are left to Buffer.
const SHORT_TEXT = 64
const SHORT_COPY = 96

const WORD_BYTES = 8
const LIMB_BYTES = 4

const BASE58_PREFIX = (BASE58_HEAD << 8) | BASE58_MARK
/** The first word of 32 bytes of text; that of base58 is larger. */
const MAX_WORD_HEAD = 65

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

  u16(value: number): void {
    this.#room(2)
    this.#length = this.#buffer.writeUInt16BE(value, this.#length)
  }

  /** Overwrites a placeholder, such as a length that is known only later. */
  u16At(at: number, value: number): void {
    this.#buffer.writeUInt16BE(value, at)
  }

  u32(value: number): void {
    this.#room(4)
    this.#length = this.#buffer.writeUInt32BE(value, this.#length)
  }

  /** LEB128: seven bits per byte, lowest first; any safe integer. */
  varuint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not an unsigned integer: ${value}`)
    this.#room(8)
    if (value < 0x80) {
      this.#buffer[this.#length++] = value
      return
    }
    let rest = value
    // Numbers above 31 bits are divided; the rest is shifted, which is faster.
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

  /** Length, then little-endian bytes without trailing zeros. */
  biguint(value: bigint): void {
    if (value < 0n) throw new RangeError('negative amount on the wire')
    this.#room(1 + MAX_BIG_BYTES + WORD_BYTES)
    const start = this.#length + 1
    const limit = start + MAX_BIG_BYTES
    let at = start
    // Whole words, lowest first; `asUintN` lets V8 truncate to one word without a new bigint.
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

  /** The encoding of `biguint`, from 32-bit limbs, lowest first. */
  limbs(limbs: Uint32Array, at: number, count = 8): void {
    let used = count
    while (used > 0 && limbs[at + used - 1] === 0) used--
    this.#room(1 + count * LIMB_BYTES)
    const start = this.#length + 1
    const words = this.#words
    for (let nth = 0; nth < used; nth++) {
      words.setUint32(start + nth * LIMB_BYTES, limbs[at + nth] as number, true)
    }
    const size = used === 0 ? 0 : used * LIMB_BYTES - (Math.clz32(limbs[at + used - 1] as number) >>> 3)
    this.#buffer[start - 1] = size
    this.#length = start + size
  }

  /**
   * The encoding of `id`, from words: the first has the size in bytes and the low bit of `id`, the rest its bytes. Above
   * the size, a further bit marks base58.
   */
  idWords(words: Uint32Array, at: number): void {
    const head = words[at] as number
    const isBase58 = head > MAX_WORD_HEAD
    const size = isBase58 ? BASE58_BYTES : head >>> 1
    if (isBase58) this.u16(BASE58_PREFIX)
    else this.varuint(head)
    this.#room(size + LIMB_BYTES)
    const start = this.#length
    for (let nth = 0; nth * LIMB_BYTES < size; nth++) {
      this.#words.setUint32(start + nth * LIMB_BYTES, words[at + 1 + nth] as number, true)
    }
    this.#length = start + size
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

  /** A slice of an encoded message that recurs. */
  piece(bytes: Uint8Array): void {
    this.copy(bytes, 0, bytes.length)
  }

  /** A slice of a message. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    const size = end - start
    this.#room(size)
    const buffer = this.#buffer
    const at = this.#length
    if (size < SHORT_COPY) for (let i = 0; i < size; i++) buffer[at + i] = bytes[start + i] as number
    else buffer.set(bytes.subarray(start, end), at)
    this.#length = at + size
  }

  /** Everything that another writer holds, without a length. */
  rawOf(other: ByteWriter): void {
    this.#room(other.#length)
    this.#length += other.#buffer.copy(this.#buffer, this.#length, 0, other.#length)
  }

  /** A range of another writer, encoded like `bytes`. */
  bytesOf(other: ByteWriter, start: number, end: number): void {
    this.varuint(end - start)
    this.#room(end - start)
    this.#length += other.#buffer.copy(this.#buffer, this.#length, start, end)
  }

  /** True if two ranges of the output are equal. */
  isRepeated(startA: number, endA: number, startB: number, endB: number): boolean {
    return (
      endA - startA === endB - startB && this.#buffer.compare(this.#buffer, startB, endB, startA, endA) === 0
    )
  }

  /** Resets the writer and keeps its capacity. */
  clear(): void {
    this.#length = 0
  }

  text(value: string): void {
    if (value.length < SHORT_TEXT && this.#ascii(value, value.length)) return
    const size = Buffer.byteLength(value)
    this.varuint(size)
    this.#utf8(value, size)
  }

  /** The length in four bytes, then the text. */
  sizedText(value: string): void {
    this.#room(4 + value.length * MAX_UTF8_BYTES)
    const start = this.#length + 4
    const size = this.#buffer.utf8Write(value, start)
    this.u32(size)
    this.#length = start + size
  }

  /** The same for an id that a message holds at this offset. */
  sizedIdText(message: Uint8Array, at: number): void {
    this.#room(4 + MAX_ID_TEXT)
    const start = this.#length + 4
    const end = writeIdText(message, at, this.#buffer, this.#words, start)
    if (end === IS_TEXT) {
      this.sizedText(new ByteReader(message, at).id())
      return
    }
    this.u32(end - start)
    this.#length = end
  }

  /** An address or hash: hex and base58 of 32 bytes shrink to their bytes, others are text; see `id-form.ts`. */
  id(value: string): void {
    if (this.#hex(value) || this.#base58(value)) return
    if (value.length < SHORT_TEXT && this.#ascii(value, value.length * 2 + 1)) return
    const size = Buffer.byteLength(value)
    this.varuint(size * 2 + 1)
    this.#utf8(value, size)
  }

  /** The encoding of `id`, for ids that recur across messages: a pool, a token, a router. */
  recurringId(value: string): void {
    if (!isCacheable(value)) {
      this.id(value)
      return
    }
    this.#room(MAX_RECENT_BYTES)
    const start = this.#length
    const slot = slotOf(value)
    const size = copyRecentId(slot, value, this.#buffer, start)
    if (size > 0) {
      this.#length = start + size
      return
    }
    this.id(value)
    cacheId(slot, value, this.#buffer, start, this.#length)
  }

  list<T>(items: readonly T[], write: (item: T) => void): void {
    this.varuint(items.length)
    for (const item of items) write(item)
  }

  optional<T>(value: T | undefined, write: (value: T) => void): void {
    this.bool(value !== undefined)
    if (value !== undefined) write(value)
  }

  /** A copy of the output that later writes cannot change. */
  finish(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#buffer, 0, this.#length)
  }

  /** Returns false and writes nothing, unless `value` is lower-case hex after 0x. */
  #hex(value: string): boolean {
    if (!mayBeHex(value)) return false
    const start = this.#length
    this.varuint(value.length - 2)
    this.#room(value.length * MAX_UTF8_BYTES)
    const end = readHex(value, this.#buffer, this.#length)
    this.#length = end === NOT_HEX ? start : end
    return end !== NOT_HEX
  }

  /** Returns false and writes nothing, unless `value` is base58 of 32 bytes. */
  #base58(value: string): boolean {
    const start = this.#length
    this.#room(BASE58_START + BASE58_BYTES)
    if (!readBase58(value, this.#buffer, start + BASE58_START)) return false
    this.u16(BASE58_PREFIX)
    this.#length = start + BASE58_START + BASE58_BYTES
    return true
  }

  /** Returns false and writes nothing, unless `value` is ASCII. */
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
