/** So many full batches succeed before the next larger size is tried: a size that fails costs a whole answer. */
const SUCCESSES_TO_GROW = 32

/** How many calls are sent together: halved when their answers are too large together, and grown back slowly. */
export class BatchSize {
  readonly #most: number
  #current: number
  #successes = 0

  constructor(most: number) {
    this.#most = most
    this.#current = most
  }

  get current(): number {
    return this.#current
  }

  succeeded(calls: number): void {
    // A smaller batch says nothing about a full one.
    if (calls < this.#current || this.#current === this.#most) return
    this.#successes++
    if (this.#successes < SUCCESSES_TO_GROW) return
    this.#successes = 0
    this.#current++
  }

  failed(calls: number): void {
    this.#successes = 0
    // Batches that were under way fail together, and count once.
    this.#current = Math.max(1, Math.min(this.#current, Math.floor(calls / 2)))
  }
}
