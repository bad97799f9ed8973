import { invalid } from '../rpc-answer.ts'

/** The internal methods behind `toString`: for a short text, its argument checks take as long as the work. */
const { latin1Slice, utf8Slice } = Buffer.prototype as Buffer & {
  latin1Slice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
}

const KEY_BYTES = 32
/** A u64 has at most 20 digits. Up to 15 of them are exact as a number. */
const MAX_DIGITS = 20
const MAX_SHORT_DIGITS = 15
const ZERO = 0x30
const MAX_AMOUNT = (1n << 64n) - 1n

const VARINT = 0
const FIXED_64 = 1
const LENGTH_DELIMITED = 2
const FIXED_32 = 5

/**
 * Reads a protobuf message in place. The library's reader makes a view of every field, those included that are skipped;
 * a block has a hundred thousand of them. A tag holds number and wire type, so a known field of another type counts as
 * unknown. Throws `node_answer_invalid` if the bytes are no message.
 */
export class MessageReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Where the message ends. */
  get end(): number {
    return this.#bytes.length
  }

  /** Is there another field before the end of the message? */
  isBefore(end: number): boolean {
    if (this.#at > end) throw invalid('a field is longer than its message')
    return this.#at < end
  }

  /** Enters a message inside this one, and returns where it ends. */
  nested(): number {
    const length = this.number()
    const end = this.#at + length
    if (end > this.#bytes.length) throw invalid('a message is longer than the one it is in')
    return end
  }

  /** An unsigned number that is exact as a number. */
  number(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    let value = first & 0x7f
    for (let unit = 0x80; unit < Number.MAX_SAFE_INTEGER; unit *= 0x80) {
      const byte = this.#byte()
      value += (byte & 0x7f) * unit
      if (value > Number.MAX_SAFE_INTEGER) break
      if (byte < 0x80) return value
    }
    throw invalid('a number is too large')
  }

  /** Indexes of keys are single bytes. */
  keyIndex(): number {
    const value = this.number()
    if (value > 0xff) throw invalid('an index of a key is too large')
    return value
  }

  /** A view, not a copy. */
  bytes(): Uint8Array {
    const end = this.nested()
    const { buffer, byteOffset } = this.#bytes
    const view = new Uint8Array(buffer, byteOffset + this.#at, end - this.#at)
    this.#at = end
    return view
  }

  key(): Uint8Array {
    const key = this.bytes()
    if (key.length !== KEY_BYTES) throw invalid('a key has not 32 bytes')
    return key
  }

  text(): string {
    const end = this.nested()
    const text = utf8Slice.call(this.#bytes, this.#at, end)
    this.#at = end
    return text
  }

  /** Text that can only be ASCII if it is valid, such as a key. */
  ascii(): string {
    const end = this.nested()
    const text = latin1Slice.call(this.#bytes, this.#at, end)
    this.#at = end
    return text
  }

  /** A u64 in decimal digits. */
  amount(): bigint {
    const end = this.nested()
    const start = this.#at
    const size = end - start
    let value = 0
    for (let at = start; at < end; at++) {
      const digit = (this.#bytes[at] as number) - ZERO
      if (digit < 0 || digit > 9 || size > MAX_DIGITS) throw invalid('an amount is no number')
      value = value * 10 + digit
    }
    if (size === 0) throw invalid('an amount is no number')
    this.#at = end
    if (size <= MAX_SHORT_DIGITS) return BigInt(value)
    const amount = BigInt(latin1Slice.call(this.#bytes, start, end))
    if (amount > MAX_AMOUNT) throw invalid('an amount is beyond 64 bits')
    return amount
  }

  skip(tag: number): void {
    switch (tag & 7) {
      case VARINT:
        while (this.#byte() >= 0x80);
        break
      case FIXED_64:
        this.#at += 8
        break
      case LENGTH_DELIMITED:
        this.#at = this.nested()
        break
      case FIXED_32:
        this.#at += 4
        break
      default:
        throw invalid('a field has an unknown type')
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw invalid('a message is cut off')
    return byte
  }
}
