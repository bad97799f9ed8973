import { maxPackedWords, packWords } from './packed-words.ts'

const FEWEST_WORDS = 16_384
const WORD_BYTES = 4
const REMOVED = -1
/** Numbers per write. */
const PLACE = 4
/** A prefix of 32 bits and an index of 21 fit in a double exactly. */
const MAX_PLACES = 2 ** 21

/**
 * Rows of one commit with their keys, as bytes in one buffer, because many small ones would take longer than the
 * encoding.
 */
export class WriteBatch {
  #words = new Uint32Array(FEWEST_WORDS)
  #bytes = new Uint8Array(this.#words.buffer)
  #view = new DataView(this.#words.buffer)
  #end = 0
  /** For each write the offset and size of the key, and those of the value. */
  readonly #places: number[] = []

  put(key: Uint8Array, words: Uint32Array, at: number, count: number): void {
    const start = this.#addKey(key, maxPackedWords(count))
    this.#end = packWords(words, at, count, this.#words, start)
    this.#places.push(start * WORD_BYTES, (this.#end - start) * WORD_BYTES)
  }

  remove(key: Uint8Array): void {
    this.#end = this.#addKey(key, 0)
    this.#places.push(0, REMOVED)
  }

  /** Nearly in key order, so that the store writes adjacent pages in sequence. */
  *[Symbol.iterator](): Generator<readonly [Uint8Array, Uint8Array | undefined]> {
    const { buffer } = this.#words
    const places = this.#places
    for (const at of this.#order()) {
      const valueSize = places[at + 3] as number
      const key = Buffer.from(buffer, places[at] as number, places[at + 1] as number)
      yield [
        key,
        valueSize === REMOVED ? undefined : Buffer.from(buffer, places[at + 2] as number, valueSize),
      ]
    }
  }

  /**
   * Sorts by the first four bytes of the keys, as numbers, because comparing whole keys takes several times as long.
   */
  #order(): number[] {
    const order: number[] = []
    const isSorted = this.#places.length < MAX_PLACES
    for (let at = 0; at < this.#places.length; at += PLACE) {
      const prefix = isSorted ? this.#view.getUint32(this.#places[at] as number) : 0
      order.push(prefix * MAX_PLACES + at)
    }
    if (!isSorted) return order
    return order.sort((a, b) => a - b).map((each) => each % MAX_PLACES)
  }

  /** Returns the first word after the key and reserves room for `more`. */
  #addKey(key: Uint8Array, more: number): number {
    const start = this.#end
    const end = start + Math.ceil(key.length / WORD_BYTES)
    if (end + more > this.#words.length) this.#grow(end + more)
    this.#bytes.set(key, start * WORD_BYTES)
    this.#places.push(start * WORD_BYTES, key.length)
    return end
  }

  #grow(needed: number): void {
    const larger = new Uint32Array(Math.max(needed, this.#words.length * 2))
    larger.set(this.#words)
    this.#words = larger
    this.#bytes = new Uint8Array(larger.buffer)
    this.#view = new DataView(larger.buffer)
  }
}
