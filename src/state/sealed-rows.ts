import type { Key } from './key.ts'
import { GROUP, maxPackedWords } from './packed-words.ts'

const FEWEST_WORDS = 1024

/**
 * What a sealed block has to keep to be undone, as words: for each row it changed the table and whether the row
 * existed, size of the key, key, and, if it existed, for each 32 words a mask of those that changed and what they were.
 * By key, because the slot may hold another row when the block is undone.
 */
export class SealedRows {
  #words = new Uint32Array(FEWEST_WORDS)
  #start = 0
  #length = 0

  /** Begins a row. */
  begin(table: number, existed: boolean, key: Key): void {
    this.#start = this.#length
    this.#reserve(2 + key.length)
    const target = this.#words
    let position = this.#length
    target[position++] = table * 2 + (existed ? 1 : 0)
    target[position++] = key.length
    for (let k = 0; k < key.length; k++) target[position++] = key.words[k] as number
    this.#length = position
  }

  /** Adds those of `count` words that are not what they were before, and says whether there are any. */
  addChanged(before: Uint32Array, beforeAt: number, now: Uint32Array, nowAt: number, count: number): boolean {
    this.#reserve(maxPackedWords(count))
    const target = this.#words
    let position = this.#length
    let all = 0
    for (let group = 0; group < count; group += GROUP) {
      const size = Math.min(GROUP, count - group)
      const maskAt = position++
      let mask = 0
      for (let k = 0; k < size; k++) {
        const word = before[beforeAt + group + k] as number
        if (word === now[nowAt + group + k]) continue
        mask |= 1 << k
        target[position++] = word
      }
      target[maskAt] = mask
      all |= mask
    }
    this.#length = position
    return all !== 0
  }

  /** Takes back the row that was begun last. */
  cancel(): void {
    this.#length = this.#start
  }

  /** Gives all rows, as a copy, and begins anew. */
  take(): Uint32Array {
    const taken = this.#words.slice(0, this.#length)
    this.#length = 0
    return taken
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed > this.#words.length) this.#grow(needed)
  }

  #grow(needed: number): void {
    const larger = new Uint32Array(Math.max(needed, this.#words.length * 2))
    larger.set(this.#words.subarray(0, this.#length))
    this.#words = larger
  }
}

/** Where the changed words end that start at `at`, of a row of `count` words. */
export function endOfChanged(sealed: Uint32Array, at: number, count: number): number {
  let position = at
  for (let group = 0; group < count; group += GROUP) position += 1 + bitCount(sealed[position] as number)
  return position
}

/** Puts back what the changed words of a row were. */
export function restoreChanged(changed: Uint32Array, words: Uint32Array, at: number, count: number): void {
  let position = 0
  for (let group = 0; group < count; group += GROUP) {
    const mask = changed[position++] as number
    for (let k = 0; k < GROUP; k++)
      if ((mask & (1 << k)) !== 0) words[at + group + k] = changed[position++] as number
  }
}

function bitCount(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}
