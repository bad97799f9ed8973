/** Allows `perSecond` on average, and `burst` at once. */
export class TokenBucket {
  #perSecond: number
  #burst: number
  readonly #now: () => number
  #tokens: number
  #filledAt: number

  constructor(perSecond: number, now: () => number, burst = perSecond) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#now = now
    this.#tokens = burst
    this.#filledAt = now()
  }

  /** Whole ones. */
  get left(): number {
    return Math.floor(this.#tokens)
  }

  /** From now on; the tokens that were taken stay taken. */
  setRate(perSecond: number, burst = perSecond): void {
    this.#refill()
    this.#perSecond = perSecond
    this.#burst = burst
    this.#tokens = Math.min(burst, this.#tokens)
  }

  take(tokens = 1): boolean {
    this.#refill()
    if (this.#tokens < tokens) return false
    this.#tokens -= tokens
    return true
  }

  /** Returns a token that was not used after all. */
  giveBack(tokens = 1): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + tokens)
  }

  /** Until there are so many, if none is taken: whole seconds. */
  secondsUntil(tokens: number): number {
    return Math.max(0, Math.ceil((Math.min(tokens, this.#burst) - this.#tokens) / this.#perSecond))
  }

  get secondsUntilFull(): number {
    return this.secondsUntil(this.#burst)
  }

  #refill(): void {
    const now = this.#now()
    // A clock that was set back must not lock the bucket.
    const elapsedMs = Math.max(0, now - this.#filledAt)
    this.#filledAt = now
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs / 1_000) * this.#perSecond)
  }
}
