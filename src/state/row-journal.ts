const FEWEST_WORDS = 1024
/** From this many words on, `set` is faster than a loop. */
const LONG_COPY = 48

/**
 * Before-images of the rows that the current block touches, as words: the table and whether the row existed, its slot,
 * and the row's previous words. Slots are valid until the next commit, which comes after the block.
 */
export class RowJournal {
  words = new Uint32Array(FEWEST_WORDS)
  /** Words in use. */
  length = 0
  /** Incremented with each block, so that a row is saved once per block. */
  block = 1

  /** The row is `count` words at `at`; none if it did not exist. */
  save(table: number, slot: number, words: Uint32Array, at: number, count: number): void {
    const start = this.length
    const end = start + 2 + count
    if (end > this.words.length) this.#grow(end)
    const target = this.words
    target[start] = table * 2 + (count === 0 ? 0 : 1)
    target[start + 1] = slot
    if (count < LONG_COPY) {
      for (let k = 0; k < count; k++) target[start + 2 + k] = words[at + k] as number
    } else target.set(words.subarray(at, at + count), start + 2)
    this.length = end
  }

  clear(): void {
    this.length = 0
    this.block++
  }

  #grow(needed: number): void {
    const larger = new Uint32Array(Math.max(needed, this.words.length * 2))
    larger.set(this.words.subarray(0, this.length))
    this.words = larger
  }
}
