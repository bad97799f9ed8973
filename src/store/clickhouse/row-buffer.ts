const FIRST_CHUNK_BYTES = 32 * 1_024
const MAX_CHUNK_BYTES = 1_024 * 1_024
/** More than all fixed-size cells of a row take; ids and texts reserve their own room. */
const RESERVE = 8_192
const MAX_LENGTH_BYTES = 5

/** Rows as a list of chunks. The buffers are zeroed, so numbers shorter than their column need no padding. */
export class RowBuffer {
  readonly #full: Buffer[] = []
  protected bytes: Buffer = Buffer.alloc(0)
  protected view = new DataView(this.bytes.buffer)
  protected rowStart = 0
  protected at = 0
  #count = 0

  get count(): number {
    return this.#count
  }

  finish(): Buffer[] {
    return [...this.#full, this.bytes.subarray(0, this.at)]
  }

  begin(): void {
    this.rowStart = this.at
    this.#count++
    this.room(0)
  }

  u8(value: number): void {
    this.bytes[this.at++] = value
  }

  u32(value: number): void {
    this.view.setUint32(this.at, value, true)
    this.at += 4
  }

  u64(value: number): void {
    this.view.setUint32(this.at, value >>> 0, true)
    this.view.setUint32(this.at + 4, Math.floor(value / 0x1_0000_0000), true)
    this.at += 8
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length)
    this.bytes.set(bytes, this.at)
    this.at += bytes.length
  }

  string(text: string): void {
    const size = Buffer.byteLength(text)
    this.size(size)
    this.bytes.write(text, this.at)
    this.at += size
  }

  /** Bytes of any length, as a String column holds them. */
  blob(bytes: Uint8Array): void {
    this.size(bytes.length)
    this.raw(bytes)
  }

  /** A short text, already length-prefixed. */
  text(text: Uint8Array): void {
    const to = this.bytes
    const start = this.at
    for (let i = 0; i < text.length; i++) to[start + i] = text[i] as number
    this.at = start + text.length
  }

  /** Writes the length of the following text and reserves room for it. */
  protected size(size: number): void {
    this.room(size + MAX_LENGTH_BYTES)
    let rest = size
    while (rest >= 0x80) {
      this.u8((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    this.u8(rest)
  }

  /** A row is never split: its beginning moves to the new chunk. */
  protected room(size: number): void {
    const needed = this.at + size + RESERVE
    if (needed <= this.bytes.length) return
    const begun = this.bytes.subarray(this.rowStart, this.at)
    if (this.rowStart > 0) this.#full.push(this.bytes.subarray(0, this.rowStart))
    const usual = Math.min(MAX_CHUNK_BYTES, Math.max(FIRST_CHUNK_BYTES, this.bytes.length * 2))
    this.bytes = Buffer.alloc(Math.max(usual, begun.length + size + RESERVE))
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
    this.bytes.set(begun)
    this.at = begun.length
    this.rowStart = 0
  }
}
