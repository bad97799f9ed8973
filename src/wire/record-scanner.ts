import { ChaintapeError } from '../domain/errors.ts'
import {
  END,
  FIRST_FIELD,
  GROUP,
  OPERATION,
  OPTIONAL,
  type RecordLayout,
  START,
  TYPE,
} from './record-layout.ts'

const { byte, varuint, biguint, signed, text, id } = OPERATION

/** Records the offsets of record fields in a message without decoding them. */
export class RecordScanner {
  readonly bytes: Uint8Array
  /** Offset of the next byte. */
  position: number
  #places: Uint32Array
  #length = 0

  /** `room` is reused: the next scanner overwrites its contents. */
  constructor(bytes: Uint8Array, position: number, room: Uint32Array) {
    this.bytes = bytes
    this.position = position
    this.#places = room
  }

  /** The slots of all records so far, concatenated. */
  get places(): Uint32Array {
    return this.#places
  }

  get length(): number {
    return this.#length
  }

  /** Allocates the slots of a record that starts here, with all fields absent, and returns its first slot. */
  begin({ type, size }: RecordLayout): number {
    const base = this.#length
    this.#length = base + size
    if (this.#length > this.#places.length) {
      const larger = new Uint32Array(this.#places.length * 2)
      larger.set(this.#places)
      this.#places = larger
    }
    this.#places.fill(0, base + FIRST_FIELD, this.#length)
    this.#places[base + TYPE] = type
    this.#places[base + START] = this.position
    return base
  }

  /** Ends the record here. */
  end(base: number): void {
    // A truncated field has moved the position beyond the end, or made it NaN.
    if (!(this.position <= this.bytes.length)) throw unreadable('message ends early')
    this.#places[base + END] = this.position
  }

  scan(layout: RecordLayout): number {
    const base = this.begin(layout)
    this.fields(layout, base + FIRST_FIELD, 0, layout.operations.length)
    this.end(base)
    return base
  }

  /** Scans the fields of operations `first` to `last` into the slots from `slot` on. */
  fields({ operations, groupSizes }: RecordLayout, slot: number, first: number, last: number): void {
    const { bytes } = this
    const places = this.#places
    let at = this.position
    let to = slot
    for (let i = first; i < last; i++) {
      let operation = operations[i] as number
      if (operation >= OPTIONAL) {
        const isPresent = bytes[at++] as number
        if (isPresent > 1) throw unreadable(`boolean is ${isPresent}`)
        if (operation === GROUP) {
          if (isPresent === 1) continue
          const size = groupSizes[i] as number
          i += size
          to += size
          continue
        }
        if (isPresent === 0) {
          to++
          continue
        }
        operation -= OPTIONAL
      }
      places[to++] = at
      switch (operation) {
        case byte:
          at++
          break
        case varuint:
          while ((bytes[at++] as number) >= 0x80);
          break
        case biguint:
          at += 1 + (bytes[at] as number)
          break
        case signed:
          at += 2 + (bytes[at + 1] as number)
          break
        case text:
        case id: {
          let size = bytes[at++] as number
          if (size >= 0x80) {
            this.position = at - 1
            size = this.varuint()
            at = this.position
          }
          at += operation === id ? Math.floor(size / 2) : size
          break
        }
      }
    }
    this.position = at
  }

  byte(): number {
    return this.bytes[this.position++] as number
  }

  varuint(): number {
    let byte = this.byte()
    let value = byte & 0x7f
    for (let unit = 0x80; byte >= 0x80; unit *= 0x80) {
      byte = this.byte()
      value += (byte & 0x7f) * unit
    }
    if (!Number.isSafeInteger(value)) throw unreadable('integer out of range')
    return value
  }

  /** Skips the field and returns its offset. */
  passVaruint(): number {
    const at = this.position
    while (this.byte() >= 0x80);
    return at
  }

  passBiguint(): number {
    const at = this.position
    this.position += 1 + (this.bytes[at] as number)
    return at
  }

  passId(): number {
    const at = this.position
    const size = this.varuint()
    this.position += Math.floor(size / 2)
    return at
  }
}

export function unreadable(reason: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', reason)
}
