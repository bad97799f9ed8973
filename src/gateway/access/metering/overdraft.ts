export type OverdraftOptions = {
  /** How long keys are served on credit once the store is away. */
  readonly maxMs: number
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number
}

/**
 * Whether keys are served on credit: for a bounded time after the store was lost. What a key can overspend in it is bounded by its
 * rate, which is limited without the store, too, and by what is known to be left of its units.
 */
export class Overdraft {
  readonly #options: OverdraftOptions
  /** When a call first failed after the last one that did not. */
  #awaySince: number | undefined

  constructor(options: OverdraftOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    const { maxMs, now } = this.#options
    return this.#awaySince !== undefined && now() - this.#awaySince < maxMs
  }

  failed(): void {
    this.#awaySince ??= this.#options.now()
  }

  succeeded(): void {
    this.#awaySince = undefined
  }
}
