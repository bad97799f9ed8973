/** One buffer, viewed as 32-bit words, as 64-bit words and as bytes. All are little-endian. */
export class Memory {
  readonly words: Uint32Array
  readonly longs: BigUint64Array
  readonly bytes: Uint8Array

  constructor(words: number) {
    const buffer = new ArrayBuffer(Math.ceil(words / 2) * 8)
    this.words = new Uint32Array(buffer)
    this.longs = new BigUint64Array(buffer)
    this.bytes = new Uint8Array(buffer)
  }
}
