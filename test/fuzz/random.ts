/** Seeded pseudorandom numbers (mulberry32), equal on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    // Consecutive seeds must give unrelated numbers.
    this.#state = Math.imul((seed | 0) ^ 0x9e3779b9, 0x85ebca6b) ^ (seed / 2 ** 32)
  }

  /** From 0 up to 1, exclusive. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from 0 up to `limit`, exclusive. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** An integer, both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from')
    return items[this.below(items.length)] as T
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }
}
