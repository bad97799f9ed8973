/** Allows `perSecond` at once and on average. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #now: () => number
  #tokens: number
  #filledAt: number

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond
    this.#now = now
    this.#tokens = perSecond
    this.#filledAt = now()
  }

  take(): boolean {
    const now = this.#now()
    // A clock that was set back must not lock the bucket.
    const elapsedMs = Math.max(0, now - this.#filledAt)
    this.#filledAt = now
    this.#tokens = Math.min(this.#perSecond, this.#tokens + (elapsedMs / 1_000) * this.#perSecond)
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
