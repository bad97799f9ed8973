import { AdaptiveRate } from './adaptive-rate.ts'
import { RequestBudget } from './request-budget.ts'

export type EndpointLimits = {
  readonly maxInFlight: number
  /** Further behind the best head than this, for longer than that, is lagging. */
  readonly lagBlocks: number
  readonly lagAfterMs: number
  /** When nothing else is left, an endpoint is tried again after this at the latest. */
  readonly lastResortMs: number
}

const LATENCY_WEIGHT = 0.2
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000
const FIRST_BLAME_PAUSE_MS = 1_000
const MAX_BLAME_PAUSE_MS = 5 * 60_000
const FORGIVEN_HALF_MS = 10 * 60_000
/** One good answer does not make up for one failure: what fails every other time must not look healthy. */
const MENDED_PER_ANSWER = 0.25
const MAX_OUTRUN = 3
/** Differences of milliseconds do not count, however fast the others are. */
const SLOW_MS = 100
const LAGGING_FACTOR = 10
/** Most questions take several requests; the first one getting through is not enough. */
const REQUESTS_PER_QUESTION = 3

/** Statistics of one node: latency, load, health, honesty, freshness. Has no clock of its own. */
export class Endpoint {
  readonly label: string
  readonly rate = new AdaptiveRate()
  readonly budget: RequestBudget
  readonly #limits: EndpointLimits
  readonly #latencyMs = new Map<string, number>()
  /** Compared with all endpoints at the same method: 1 is usual, 2 takes twice as long. */
  #slowness = 1
  #inFlight = 0
  #isProven = false
  #failures = 0
  #outrun = 0
  #pausedAt = Number.NEGATIVE_INFINITY
  #pausedUntil = Number.NEGATIVE_INFINITY
  #blames = 0
  #blamedAt = 0
  #behindSince: number | undefined
  readonly #missingMethods = new Set<string>()
  lastFailure = ''
  chainId: number | string | undefined
  head: number | undefined
  headSeenAt = Number.NEGATIVE_INFINITY

  constructor(label: string, limits: EndpointLimits, budget = new RequestBudget({}, () => 0)) {
    this.label = label
    this.budget = budget
    this.#limits = limits
  }

  /** Answered since it last failed: may be given real work. */
  get isProven(): boolean {
    return this.#isProven
  }

  get isFull(): boolean {
    return this.#inFlight >= this.#limits.maxInFlight
  }

  /** Failures lately, single good answers in between not forgotten. */
  get failures(): number {
    return this.#failures
  }

  /** Said that it does not have this method. */
  lacks(method: string): boolean {
    return this.#missingMethods.has(method)
  }

  missesMethod(method: string): void {
    this.#missingMethods.add(method)
  }

  /** Is the pause over, so that it may be asked whether it works again? */
  isDue(now: number, isLastResort: boolean): boolean {
    const lastResortAt = this.#pausedAt + this.#limits.lastResortMs
    return now >= (isLastResort ? Math.min(this.#pausedUntil, lastResortAt) : this.#pausedUntil)
  }

  isLagging(now: number): boolean {
    return this.#behindSince !== undefined && now - this.#behindSince >= this.#limits.lagAfterMs
  }

  /** From 1 down; halves with every wrong answer and comes back only with time: right ones are no excuse. */
  trust(now: number): number {
    return 0.5 ** this.#blamesLeft(now)
  }

  /** Lower is better: the time an answer is expected to take, made worse by lies and lag. */
  cost(now: number, usualMs: number): number {
    const waitMs = Math.max(this.rate.waitMs(now, REQUESTS_PER_QUESTION), this.budget.waitMs(now, false))
    const expectedMs = usualMs * this.#slowness * (1 + this.#inFlight / 4) + waitMs
    return (expectedMs / this.trust(now)) * (this.isLagging(now) ? LAGGING_FACTOR : 1)
  }

  /** Until it takes a request, and the operator's budget allows one. */
  waitMs(now: number, isBackground: boolean): number {
    return Math.max(this.rate.waitMs(now), this.budget.waitMs(now, isBackground))
  }

  latencyMs(method: string): number | undefined {
    return this.#latencyMs.get(method)
  }

  started(now: number): void {
    this.#inFlight += 1
    this.rate.take(now)
    this.budget.take(now)
  }

  ended(): void {
    this.#inFlight -= 1
  }

  answered(method: string, elapsedMs: number, usualMs: number): void {
    this.#learn(method, elapsedMs, usualMs)
    this.#failures = Math.max(0, this.#failures - MENDED_PER_ANSWER)
    this.#outrun = 0
    this.rate.accepted()
  }

  /** Asked whether it works, which is not asked again at once. */
  probed(now: number): void {
    this.#pausedAt = now
  }

  proved(): void {
    // An endpoint that was unreachable may come back with other software or settings.
    if (!this.#isProven) this.#missingMethods.clear()
    this.#isProven = true
  }

  failed(now: number, reason: string): void {
    // Whatever else was in flight fails with it; that is still one failure.
    if (!this.#isProven && now < this.#pausedUntil) return
    this.#failures += 1
    this.lastFailure = reason
    this.#pause(now, Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1)))
  }

  /** Another endpoint was asked later and answered earlier. */
  outrun(now: number, method: string, elapsedMs: number, usualMs: number): void {
    this.#learn(method, elapsedMs, usualMs)
    if (elapsedMs < SLOW_MS) return
    this.#outrun += 1
    if (this.#outrun < MAX_OUTRUN) return
    this.#outrun = 0
    this.failed(now, `${method}: far slower than usual, several times`)
  }

  blamed(now: number, reason: string): void {
    // As with failures: concurrent requests carry no new information.
    if (!this.#isProven && now < this.#pausedUntil) return
    this.#blames = this.#blamesLeft(now) + 1
    this.#blamedAt = now
    this.lastFailure = reason
    this.#pause(now, Math.min(MAX_BLAME_PAUSE_MS, FIRST_BLAME_PAUSE_MS * 2 ** (this.#blames - 1)))
  }

  /** `bestElsewhere` was known before this head was asked for, so that its own age never counts against it. */
  sawHead(now: number, head: number, bestElsewhere: number): void {
    this.head = head
    this.headSeenAt = now
    if (bestElsewhere - head <= this.#limits.lagBlocks) this.#behindSince = undefined
    else this.#behindSince ??= now
  }

  /** It did not know a block that others know. A head it claimed is no longer a measure for them. */
  missedBlock(now: number): void {
    this.head = undefined
    this.#behindSince ??= now
  }

  #pause(now: number, pauseMs: number): void {
    this.#isProven = false
    this.#pausedAt = now
    this.#pausedUntil = now + pauseMs
  }

  #learn(method: string, elapsedMs: number, usualMs: number): void {
    const known = this.#latencyMs.get(method)
    this.#latencyMs.set(method, known === undefined ? elapsedMs : smooth(known, elapsedMs))
    this.#slowness = smooth(this.#slowness, Math.max(elapsedMs, 1) / Math.max(usualMs, 1))
  }

  #blamesLeft(now: number): number {
    return this.#blames * 0.5 ** ((now - this.#blamedAt) / FORGIVEN_HALF_MS)
  }
}

function smooth(before: number, sample: number): number {
  return before + LATENCY_WEIGHT * (sample - before)
}
