import { MAX_BASE58_LETTERS, writeBase58 } from '../../domain/base58.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { MAX_FIXED, MAX_TIME } from '../../domain/limits.ts'
import { ByteReader } from '../../wire/byte-reader.ts'
import { BASE58_START, isBase58At } from '../../wire/id-form.ts'
import { CELL, type Cell, type ColumnType, defaultOf, NULL } from './cells.ts'
import type { Cells } from './columns.ts'
import { RowBuffer } from './row-buffer.ts'

const WIDE = 32
const ZERO_X = 0x7830
/** Our enumerations have the codes 1 and 2 only. */
const MAX_CODE = 2
/** A 32-byte number with a smaller top byte is certainly at most `MAX_FIXED`. */
const FIXED_TOP = Number(MAX_FIXED >> 248n)
const HEX = Uint16Array.from({ length: 256 }, (_, byte) => {
  const [high, low] = byte.toString(16).padStart(2, '0')
  return (high as string).charCodeAt(0) | ((low as string).charCodeAt(0) << 8)
})

/** Rows in ClickHouse's RowBinary format. Numbers are copied from the message, because both use little-endian bytes. */
export class RowBinary extends RowBuffer {
  #repeated: Uint8Array = this.bytes

  time(seconds: number): void {
    if (seconds > MAX_TIME) throw unstorable(`time ${seconds}`)
    this.u32(seconds)
  }

  /** Writes a decoded value. */
  value(type: ColumnType, value: Cell): void {
    if (value === undefined) {
      this.raw(defaultOf(type))
      return
    }
    if (type.startsWith('Nullable(')) this.u8(0)
    if (typeof value === 'string') this.string(value)
    else if (typeof value === 'bigint') {
      this.view.setBigUint64(this.at, value, true)
      this.at += 8
    } else if (type === 'UInt64') this.u64(Number(value))
    else if (type === "DateTime('UTC')") this.time(Number(value))
    else this.u8(Number(value))
  }

  /** Writes the fields of a record into their columns. */
  cells({ operations, slots, texts }: Cells, bytes: Uint8Array, places: Uint32Array, base: number): void {
    for (let i = 0; i < operations.length; i++) {
      const at = places[base + (slots[i] as number)] as number
      switch (operations[i]) {
        case CELL.fixedOrNull:
          this.#fixedOrNull(bytes, at)
          break
        case CELL.u256OrNull:
          if (at === 0 || (bytes[at] as number) > WIDE) this.bytes[this.at++] = NULL
          else {
            this.at++
            this.#wide(bytes, at)
          }
          break
        case CELL.id:
          this.#id(bytes, at)
          break
        case CELL.u64:
          this.u64(varuint(bytes, at))
          break
        case CELL.u32:
          this.u32(varuint(bytes, at))
          break
        case CELL.number32:
          this.u32(at)
          break
        case CELL.numberWord:
          this.text((texts[i] as readonly Uint8Array[])[at] as Uint8Array)
          break
        case CELL.constant:
          this.text((texts[i] as readonly Uint8Array[])[0] as Uint8Array)
          break
        case CELL.text:
          this.#copyText(bytes, at)
          break
        case CELL.time:
          this.time(varuint(bytes, at))
          break
        case CELL.byte:
          this.u8(bytes[at] as number)
          break
        case CELL.codeOrNull:
          this.#codeOrNull(bytes[at] as number)
          break
        case CELL.numberOrNull:
          this.#codeOrNull(at)
          break
        case CELL.u256:
          if ((bytes[at] as number) > WIDE) throw unstorable('an amount of more than 256 bits')
          this.#wide(bytes, at)
          break
        case CELL.i256:
          this.#signed(bytes, at)
          break
        case CELL.number16:
          this.view.setUint16(this.at, at, true)
          this.at += 2
          break
        case CELL.word:
          this.#word(texts[i] as readonly Uint8Array[], bytes[at] as number)
          break
        default:
          this.#optional(operations[i] as number, bytes, at)
      }
    }
  }

  /** Like `cells`, but remembers the bytes for `repeat`. */
  repeatableCells(cells: Cells, bytes: Uint8Array, places: Uint32Array, base: number): void {
    const start = this.at - this.rowStart
    this.cells(cells, bytes, places, base)
    this.#repeated = this.bytes.subarray(this.rowStart + start, this.at)
  }

  /** Writes the cells of the last `repeatableCells` again. */
  repeat(): void {
    this.raw(this.#repeated)
  }

  #optional(operation: number, bytes: Uint8Array, at: number): void {
    const time = operation === CELL.timeOrNull && at !== 0 ? varuint(bytes, at) : 0
    if (at === 0 || time > MAX_TIME) {
      this.u8(NULL)
      return
    }
    this.at++
    switch (operation) {
      case CELL.idOrNull:
        this.#id(bytes, at)
        break
      case CELL.textOrNull:
        this.#copyText(bytes, at)
        break
      case CELL.byteOrNull:
        this.u8(bytes[at] as number)
        break
      case CELL.u32OrNull:
        this.u32(varuint(bytes, at))
        break
      case CELL.u64OrNull:
        this.u64(varuint(bytes, at))
        break
      case CELL.timeOrNull:
        this.u32(time)
        break
      default:
        throw new Error(`no such cell: ${operation}`)
    }
  }

  /** A number beyond the limits of its column is written as NULL (unknown). */
  #fixedOrNull(bytes: Uint8Array, at: number): void {
    const size = bytes[at] as number
    if (at === 0 || (size >= WIDE && isBeyondFixed(bytes, at, size))) {
      this.bytes[this.at++] = NULL
      return
    }
    this.at++
    this.#wide(bytes, at)
  }

  /** A number of at most 32 bytes. */
  #wide(bytes: Uint8Array, at: number): void {
    const to = this.bytes
    const start = this.at
    const size = bytes[at] as number
    for (let i = 0; i < size; i++) to[start + i] = bytes[at + 1 + i] as number
    this.at = start + WIDE
  }

  #signed(bytes: Uint8Array, at: number): void {
    const isNegative = bytes[at] !== 0
    const size = bytes[at + 1] as number
    const top = at + 1 + size
    if (size > WIDE || (size === WIDE && (bytes[top] as number) > 0x7f))
      throw unstorable('a balance of more than 255 bits')
    const start = this.at
    this.#wide(bytes, at + 1)
    if (!isNegative) return
    // Two's complement: invert all bits and add one.
    let carry = 1
    for (let i = start; i < this.at; i++) {
      const sum = ((this.bytes[i] as number) ^ 0xff) + carry
      this.bytes[i] = sum & 0xff
      carry = sum >> 8
    }
  }

  #codeOrNull(code: number): void {
    if (code > MAX_CODE) throw new ChaintapeError('message_unreadable', `unknown code ${code}`)
    if (code === 0) this.u8(NULL)
    else {
      this.at++
      this.u8(code)
    }
  }

  #word(words: readonly Uint8Array[], code: number): void {
    const word = words[code]
    if (word === undefined) throw new ChaintapeError('message_unreadable', `unknown word ${code}`)
    this.text(word)
  }

  #copyText(bytes: Uint8Array, at: number): void {
    let size = bytes[at] as number
    let start = at + 1
    if (size >= 0x80) {
      const r = new ByteReader(bytes, at)
      size = r.varuint()
      start = r.position
    }
    this.size(size)
    for (let i = 0; i < size; i++) this.bytes[this.at + i] = bytes[start + i] as number
    this.at += size
  }

  /** Ids are stored as text, so bytes become digits. */
  #id(bytes: Uint8Array, at: number): void {
    const tagged = bytes[at] as number
    if (tagged >= 0x80) {
      this.string(new ByteReader(bytes, at).id())
      return
    }
    if (isBase58At(bytes, at)) {
      this.room(1 + MAX_BASE58_LETTERS)
      const end = writeBase58(bytes, at + BASE58_START, this.bytes, this.at + 1)
      this.bytes[this.at] = end - this.at - 1
      this.at = end
      return
    }
    const size = tagged >> 1
    if (tagged % 2 === 1) {
      this.size(size)
      for (let i = 0; i < size; i++) this.bytes[this.at + i] = bytes[at + 1 + i] as number
      this.at += size
      return
    }
    this.size(2 + size * 2)
    const view = this.view
    let to = this.at
    view.setUint16(to, ZERO_X, true)
    for (let i = 1; i <= size; i++) {
      to += 2
      view.setUint16(to, HEX[bytes[at + i] as number] as number, true)
    }
    this.at = to + 2
  }
}

function isBeyondFixed(bytes: Uint8Array, at: number, size: number): boolean {
  const top = bytes[at + size] as number
  if (size > WIDE || top > FIXED_TOP) return true
  return top === FIXED_TOP && new ByteReader(bytes, at).biguint() > MAX_FIXED
}

function varuint(bytes: Uint8Array, at: number): number {
  let byte = bytes[at] as number
  if (byte < 0x80) return byte
  let value = byte & 0x7f
  let next = at + 1
  for (let unit = 0x80; byte >= 0x80; unit *= 0x80) {
    byte = bytes[next++] as number
    value += (byte & 0x7f) * unit
  }
  if (!Number.isSafeInteger(value)) throw new ChaintapeError('message_unreadable', 'integer out of range')
  return value
}

function unstorable(what: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', `no column can hold ${what}`)
}
