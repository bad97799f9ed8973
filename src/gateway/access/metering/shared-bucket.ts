import type { RateAnswer, RateCall } from '../../../store/redis/rate-store.ts'
import { TokenBucket } from './token-bucket.ts'

export type SharedBucketOptions = {
  readonly perSecond: number
  readonly burst: number
  readonly lease: (call: RateCall) => Promise<RateAnswer>
  /** How many gateways share the rate, as far as this one knows from other keys. */
  readonly gateways: () => number
  readonly onFailure: (error: unknown) => void
  /** Milliseconds. */
  readonly now: () => number
}

/** Tokens for so long are leased at a time, by what was used lately. */
const LEASE_MS = 100
/** A gateway keeps a fortieth of the burst: four that are idle hold a tenth. */
const RESERVE_SHARE = 40
/** Redis is not asked more often while the bucket is empty. */
const EMPTY_PAUSE_MS = 25
/** While Redis is away it is tried so often. */
const RETRY_MS = 1_000
const IDLE_MS = 500

/**
 * One key's token bucket, which all gateways share, as seen by this one: it leases a few tokens from Redis before they are
 * needed and spends them without asking. All that is granted comes out of one bucket, so that no number of gateways
 * admits more than the plan. While Redis is away the gateway has a bucket of its own, with its share of the plan.
 */
export class SharedBucket {
  readonly #options: SharedBucketOptions
  readonly #reserve: number
  #tokens = 0
  /** Tokens left in Redis, and when it reported them. */
  #shared: number
  #sharedAt: number
  #gateways: number | undefined
  #taken = 0
  #calledAt: number
  #usedAt: number
  #waiting = 0
  #pausedUntil = 0
  #leasing: Promise<void> | undefined
  #own: TokenBucket | undefined

  constructor(options: SharedBucketOptions) {
    this.#options = options
    this.#reserve = Math.floor(options.burst / RESERVE_SHARE)
    this.#shared = options.burst
    this.#sharedAt = options.now()
    this.#calledAt = this.#sharedAt
    this.#usedAt = this.#sharedAt
  }

  /** At once, from what is at hand. */
  take(): boolean {
    const now = this.#options.now()
    this.#usedAt = now
    if (this.#own !== undefined) {
      if (now >= this.#pausedUntil) void this.#lease()
      return this.#own.take()
    }
    if (this.#tokens < 1) return false
    this.#tokens--
    this.#taken++
    if (this.#tokens <= this.#ahead(now) / 2 && now >= this.#pausedUntil) void this.#lease()
    return true
  }

  /** The same, but waits for a lease if there is nothing at hand. */
  takeOrLease(): boolean | Promise<boolean> {
    if (this.take()) return true
    const isHopeless = this.#own !== undefined || this.#options.now() < this.#pausedUntil
    return isHopeless ? false : this.#takeLeased()
  }

  /** Returns a token that was not used after all. */
  giveBack(): void {
    if (this.#own !== undefined) this.#own.giveBack()
    else this.#tokens++
  }

  /** Whole ones, as far as this gateway knows. */
  get left(): number {
    return Math.floor(this.#estimate)
  }

  /** Until there are so many, if none is taken: whole seconds. */
  secondsUntil(tokens: number): number {
    const { perSecond, burst } = this.#options
    return Math.max(0, Math.ceil((Math.min(tokens, burst) - this.#estimate) / perSecond))
  }

  get secondsUntilFull(): number {
    return this.secondsUntil(this.#options.burst)
  }

  isIdle(sinceMs = IDLE_MS): boolean {
    return this.#options.now() - this.#usedAt >= sinceMs
  }

  /** Called now and then: what is not used here goes back, but for a few or, `isLast`, all of it. */
  async settle(isLast = false): Promise<void> {
    const reserve = isLast ? 0 : this.#reserve
    if (this.#leasing !== undefined || this.#own !== undefined || this.#tokens <= reserve) return
    const giveBack = this.#tokens - reserve
    this.#tokens = reserve
    // Tokens that get lost on the way are made up for by the bucket's rate.
    await this.#call({ giveBack, want: 0 }).catch(() => undefined)
  }

  get #estimate(): number {
    if (this.#own !== undefined) return this.#own.left
    const { perSecond, burst, now } = this.#options
    const refilled = ((now() - this.#sharedAt) / 1_000) * perSecond
    return Math.min(burst, this.#shared + refilled + this.#tokens)
  }

  async #takeLeased(): Promise<boolean> {
    this.#waiting++
    try {
      for (;;) {
        await this.#lease()
        if (this.take()) return true
        // Every lease either grants something or begins a pause, so this ends.
        if (this.#own !== undefined || this.#options.now() < this.#pausedUntil) return false
      }
    } finally {
      this.#waiting--
    }
  }

  /** Expected use until the next lease, at the rate since the last one. */
  #ahead(now: number): number {
    const used = (this.#taken / Math.max(LEASE_MS, now - this.#calledAt)) * LEASE_MS
    const most = (this.#options.perSecond * LEASE_MS) / 1_000
    return Math.max(this.#reserve, Math.ceil(Math.min(used, most)))
  }

  /** One at a time; concurrent requests share the same lease. */
  #lease(): Promise<void> {
    this.#leasing ??= this.#leaseMore().finally(() => {
      this.#leasing = undefined
    })
    return this.#leasing
  }

  async #leaseMore(): Promise<void> {
    const want = this.#waiting + this.#ahead(this.#options.now()) - this.#tokens
    if (want <= 0 && this.#own === undefined) return
    try {
      await this.#call({ giveBack: 0, want: Math.max(0, want) })
      this.#own = undefined
    } catch (error) {
      this.#fallBack(error)
    }
  }

  async #call({ giveBack, want }: Pick<RateCall, 'giveBack' | 'want'>): Promise<void> {
    const { lease, perSecond, burst, now } = this.#options
    this.#taken = 0
    this.#calledAt = now()
    const { granted, left, gateways } = await lease({ perSecond, burst, giveBack, want })
    this.#tokens += granted
    this.#shared = left
    this.#sharedAt = now()
    this.#gateways = gateways
    if (granted < want) {
      this.#pausedUntil = now() + Math.max(EMPTY_PAUSE_MS, ((1 - left) / perSecond) * 1_000)
    }
  }

  /** A share of what is left of the plan, among the gateways that last leased from it. */
  #fallBack(error: unknown): void {
    const { perSecond, burst, gateways, now, onFailure } = this.#options
    this.#pausedUntil = now() + RETRY_MS
    if (this.#own !== undefined) return
    const share = Math.max(1, this.#gateways ?? gateways())
    const left = this.#estimate
    const size = Math.max(1, burst / share)
    this.#own = new TokenBucket(perSecond / share, now, size)
    this.#own.take(Math.max(0, size - Math.max(1, left / share)))
    this.#tokens = 0
    onFailure(error)
  }
}
