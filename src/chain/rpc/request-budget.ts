/** What an operator allows per endpoint; absent is no limit. */
export type BudgetLimits = {
  readonly perSecond?: number | undefined
  readonly perDay?: number | undefined
}

/** Requests of one day (UTC). */
export type SpentBudget = { readonly day: number; readonly requests: number }

/** Background work leaves this share of each limit to live blocks. */
const LIVE_SHARE = 0.5
const DAY_MS = 86_400_000

/**
 * Requests to one endpoint, in a second and in a day (UTC), of which a part is for live blocks alone. `now` is the time
 * in milliseconds of any clock, `wallMs` that of the calendar.
 */
export class RequestBudget {
  readonly #limits: BudgetLimits
  readonly #wallMs: () => number
  #tokens: number
  #filledAt = Number.NEGATIVE_INFINITY
  #spent: SpentBudget

  constructor(limits: BudgetLimits, wallMs: () => number, spent?: SpentBudget) {
    this.#limits = limits
    this.#wallMs = wallMs
    this.#tokens = limits.perSecond ?? 0
    this.#spent = spent ?? { day: 0, requests: 0 }
    this.#roll()
  }

  /** Today's requests. */
  get spent(): SpentBudget {
    this.#roll()
    return this.#spent
  }

  /** Requests that are left today; undefined without a limit. */
  get leftToday(): number | undefined {
    const { perDay } = this.#limits
    return perDay === undefined ? undefined : Math.max(0, perDay - this.spent.requests)
  }

  /** Until a request may be made. */
  waitMs(now: number, isBackground: boolean): number {
    const share = isBackground ? 1 - LIVE_SHARE : 1
    const { perSecond, perDay } = this.#limits
    const wallMs = this.#wallMs()
    if (perDay !== undefined && this.spent.requests >= perDay * share) return DAY_MS - (wallMs % DAY_MS)
    if (perSecond === undefined) return 0
    this.#fill(now, perSecond)
    const needed = Math.max(1, isBackground ? perSecond * LIVE_SHARE : 0)
    // A part of a millisecond would be waited for again and again.
    return Math.max(0, Math.ceil(((needed - this.#tokens) / perSecond) * 1_000))
  }

  take(now: number): void {
    const { day, requests } = this.spent
    this.#spent = { day, requests: requests + 1 }
    const { perSecond } = this.#limits
    if (perSecond === undefined) return
    this.#fill(now, perSecond)
    this.#tokens -= 1
  }

  #fill(now: number, perSecond: number): void {
    const passed = Math.max(0, now - this.#filledAt) / 1_000
    this.#tokens = Math.min(perSecond, this.#tokens + passed * perSecond)
    this.#filledAt = now
  }

  #roll(): void {
    const day = Math.floor(this.#wallMs() / DAY_MS)
    if (day !== this.#spent.day) this.#spent = { day, requests: 0 }
  }
}
