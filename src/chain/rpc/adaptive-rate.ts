const FALL = 0.7
const RISE = 1.05
/** Above this share of the limit it was really used, and only then may it rise. */
const USED_SHARE = 0.8
const MIN_PER_SECOND = 1
/** A first refusal may be about what others asked just before us: it says little about how much we may ask. */
const MIN_FIRST_PER_SECOND = 5
/** A limit that rose this far is none. */
const LIFTED_PER_SECOND = 2_000
const BURST_SECONDS = 0.25
/** Everything in flight is refused together; that is one refusal. */
const ONE_REFUSAL_MS = 500
const FIRST_REST_MS = 250
const MAX_REST_MS = 30_000
/** Longer than this no node may send us away: it could be a mistake, and asking once is cheap. */
const MAX_RETRY_AFTER_MS = 10 * 60_000

/**
 * How many requests a second a node takes, as found out by asking: there is no limit until it refuses, then one
 * that falls with every refusal and rises slowly while it is used up. Times are milliseconds of any clock.
 */
export class AdaptiveRate {
  #perSecond: number | undefined
  #tokens = 0
  #filledAt = 0
  #restUntil = 0
  #refusals = 0
  #cutAt = Number.NEGATIVE_INFINITY
  #windowStart = Number.NEGATIVE_INFINITY
  #windowCount = 0
  #lastWindowCount = 0

  /** undefined: no limit is known. */
  get perSecond(): number | undefined {
    return this.#perSecond
  }

  /** Until so many requests may be made. */
  waitMs(now: number, requests = 1): number {
    const restMs = Math.max(0, this.#restUntil - now)
    if (this.#perSecond === undefined) return restMs
    this.#fill(now, this.#perSecond)
    const missing = Math.max(0, requests - this.#tokens)
    return Math.max(restMs, Math.ceil((missing / this.#perSecond) * 1_000))
  }

  take(now: number): void {
    this.#roll(now)
    this.#windowCount += 1
    if (this.#perSecond === undefined) return
    this.#fill(now, this.#perSecond)
    this.#tokens -= 1
  }

  accepted(): void {
    this.#refusals = 0
  }

  refused(now: number, retryAfterMs: number | undefined): void {
    this.#roll(now)
    if (now - this.#cutAt >= ONE_REFUSAL_MS) {
      const seen = Math.max(this.#windowCount, this.#lastWindowCount)
      this.#perSecond =
        this.#perSecond === undefined
          ? Math.max(MIN_FIRST_PER_SECOND, seen * FALL)
          : Math.max(MIN_PER_SECOND, this.#perSecond * FALL)
      this.#tokens = 0
      this.#filledAt = now
      this.#cutAt = now
      this.#refusals += 1
    }
    const ownRestMs = Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** (this.#refusals - 1))
    const restMs = retryAfterMs === undefined ? ownRestMs : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
    this.#restUntil = Math.max(this.#restUntil, now + restMs)
  }

  #fill(now: number, perSecond: number): void {
    const capacity = Math.max(1, perSecond * BURST_SECONDS)
    this.#tokens = Math.min(capacity, this.#tokens + ((now - this.#filledAt) / 1_000) * perSecond)
    this.#filledAt = now
  }

  /** Closes the second that is over and lets the limit rise if it was used up without a refusal. */
  #roll(now: number): void {
    if (now - this.#windowStart < 1_000) return
    const isAdjacent = now - this.#windowStart < 2_000
    const wasRefused = this.#cutAt >= this.#windowStart
    if (this.#perSecond !== undefined && !wasRefused && this.#windowCount >= this.#perSecond * USED_SHARE) {
      const risen = this.#perSecond * RISE
      this.#perSecond = risen > LIFTED_PER_SECOND ? undefined : risen
    }
    this.#lastWindowCount = isAdjacent ? this.#windowCount : 0
    this.#windowStart = now
    this.#windowCount = 0
  }
}
