import type { Key } from './key.ts'
import { GROUP, maxPackedWords } from './packed-words.ts'

const FEWEST_WORDS = 1024

/**
 * The undo log of a sealed block, as words: for each changed row the table and whether the row existed, size of the
 * key, key, and, if it existed, for each 32 words a mask of the changed ones and their previous values. By key, because
 * the slot may hold another row at the time of the undo.
 */
export class SealedRows {
  #words = new Uint32Array(FEWEST_WORDS)
  #start = 0
  #length = 0

  /** Starts a row. */
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

  /**
   * Adds those of `count` words that have changed, and returns whether there are any. Each swap compares about two
   * thousand words; `| 0` shows V8 that the index cannot overflow, which saves a quarter of the time.
   */
  addChanged(before: Uint32Array, beforeAt: number, now: Uint32Array, nowAt: number, count: number): boolean {
    this.#reserve(maxPackedWords(count))
    const target = this.#words
    const shift = (nowAt - beforeAt) | 0
    const end = (beforeAt + count) | 0
    let at = beforeAt | 0
    let position = this.#length | 0
    let all = 0
    while (at < end) {
      const groupEnd = Math.min(end, (at + GROUP) | 0)
      const maskAt = position
      position = (position + 1) | 0
      let mask = 0
      for (let bit = 1; at < groupEnd; at = (at + 1) | 0, bit <<= 1) {
        const word = before[at] as number
        if (word === now[(at + shift) | 0]) continue
        mask |= bit
        target[position] = word
        position = (position + 1) | 0
      }
      target[maskAt] = mask
      all |= mask
    }
    this.#length = position
    return all !== 0
  }

  /** Drops the last started row. */
  cancel(): void {
    this.#length = this.#start
  }

  /** Returns a copy of all rows and resets the log. */
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

/** The end of the changed words that start at `at`, for a row of `count` words. */
export function endOfChanged(sealed: Uint32Array, at: number, count: number): number {
  let position = at
  for (let group = 0; group < count; group += GROUP) position += 1 + bitCount(sealed[position] as number)
  return position
}

/** Restores the previous values of a row's changed words. */
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
