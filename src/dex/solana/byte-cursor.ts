/**
 * Reads little-endian binary data from front to back. Reading beyond the end yields zeros and makes the cursor invalid,
 * so that a decoder checks once instead of after every field.
 */
export class ByteCursor {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at: number
  #isValid = true

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = at
  }

  get isValid(): boolean {
    return this.#isValid
  }

  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  u8(): number {
    const at = this.#take(1)
    return at === undefined ? 0 : this.#view.getUint8(at)
  }

  /** A flag is 0 or 1; any other byte is invalid. */
  bool(): boolean {
    const value = this.u8()
    if (value > 1) this.#isValid = false
    return value === 1
  }

  u16(): number {
    const at = this.#take(2)
    return at === undefined ? 0 : this.#view.getUint16(at, true)
  }

  u32(): number {
    const at = this.#take(4)
    return at === undefined ? 0 : this.#view.getUint32(at, true)
  }

  i32(): number {
    const at = this.#take(4)
    return at === undefined ? 0 : this.#view.getInt32(at, true)
  }

  u64(): bigint {
    const at = this.#take(8)
    return at === undefined ? 0n : this.#view.getBigUint64(at, true)
  }

  u128(): bigint {
    const low = this.u64()
    return (this.u64() << 64n) | low
  }

  i128(): bigint {
    return BigInt.asIntN(128, this.u128())
  }

  /** A length in one to three bytes of seven bits, as in the wire format of transactions. */
  shortLength(): number {
    let length = 0
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.u8()
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) return length
    }
    this.#isValid = false
    return 0
  }

  /** A view, not a copy. */
  bytes(length: number): Uint8Array {
    const at = this.#take(length)
    return at === undefined ? new Uint8Array(0) : this.#bytes.subarray(at, at + length)
  }

  skip(length: number): void {
    this.#take(length)
  }

  /** Skips a Borsh string: its length in four bytes, then its bytes. */
  skipText(): void {
    this.skip(this.u32())
  }

  #take(length: number): number | undefined {
    const at = this.#at
    if (!this.#isValid || length > this.#bytes.length - at) {
      this.#isValid = false
      return undefined
    }
    this.#at = at + length
    return at
  }
}
