import type { Key } from './key.ts'

const FEWEST_WORDS = 1024

/**
 * Before-images of the rows that the open block touches, as words: table and whether the row existed, size of the
 * key, key, and the row as it was. By key, because the slot may hold another row when the block is undone.
 */
export class RowJournal {
  #words = new Uint32Array(FEWEST_WORDS)
  #length = 0
  /** Counts up with each block, so that a row knows whether this block has saved it. */
  block = 1

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** `count` words at `at` are the row; none if it did not exist. */
  save(table: number, key: Key, words: Uint32Array, at: number, count: number): void {
    const start = this.#length
    const needed = start + 2 + key.length + count
    if (needed > this.#words.length) this.#grow(needed)
    const target = this.#words
    target[start] = table * 2 + (count === 0 ? 0 : 1)
    target[start + 1] = key.length
    let position = start + 2
    for (let k = 0; k < key.length; k++) target[position++] = key.words[k] as number
    for (let k = 0; k < count; k++) target[position++] = words[at + k] as number
    this.#length = position
  }

  /** Ends the block. The result is a copy. */
  seal(): Uint32Array {
    const sealed = this.#words.slice(0, this.#length)
    this.clear()
    return sealed
  }

  clear(): void {
    this.#length = 0
    this.block++
  }

  #grow(needed: number): void {
    const larger = new Uint32Array(Math.max(needed, this.#words.length * 2))
    larger.set(this.#words.subarray(0, this.#length))
    this.#words = larger
  }
}
