const FIRST_MS = 250
const MAX_MS = 15_000

/** Exponential backoff with jitter, so that clients that were cut off together do not return together. */
export class Backoff {
  readonly #random: () => number
  #failures = 0

  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  /** The delay before the next attempt: between half of the current step and the whole of it. */
  next(): number {
    const step = Math.min(MAX_MS, FIRST_MS * 2 ** this.#failures++)
    return step / 2 + (this.#random() * step) / 2
  }

  reset(): void {
    this.#failures = 0
  }
}
