import { base58 } from '@scure/base'

/** Writes the fields of an instruction or event in Borsh, after its discriminator in hex. */
export class BorshWriter {
  readonly #parts: Buffer[]

  constructor(discriminator: string) {
    this.#parts = [Buffer.from(discriminator, 'hex')]
  }

  key(...addresses: readonly string[]): this {
    for (const address of addresses) this.#parts.push(Buffer.from(base58.decode(address)))
    return this
  }

  u8(...values: readonly number[]): this {
    this.#parts.push(Buffer.from(values))
    return this
  }

  bool(value: boolean): this {
    return this.u8(value ? 1 : 0)
  }

  u64(...values: readonly bigint[]): this {
    for (const value of values) {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(value)
      this.#parts.push(bytes)
    }
    return this
  }

  u128(value: bigint): this {
    return this.u64(value & 0xffff_ffff_ffff_ffffn, value >> 64n)
  }

  text(...values: readonly string[]): this {
    for (const value of values) {
      const bytes = Buffer.from(value)
      const size = Buffer.alloc(4)
      size.writeUInt32LE(bytes.length)
      this.#parts.push(size, bytes)
    }
    return this
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }
}
