import { setTimeout as sleep } from 'node:timers/promises'
import type { LeaseAnswer, LeaseCall } from '../../../store/redis/quota-store.ts'
import type { Overdraft } from './overdraft.ts'

/** Units set aside for one request; exactly one of the two is called, when its outcome is known. */
export type Reservation = { charge(): void; release(): void }

/** `exhausted`: nothing is left; `retryMs` says when that may change. `unavailable`: the balance is unknown. */
export type Refusal = {
  readonly reason: 'exhausted' | 'unavailable'
  readonly retryMs: number | undefined
}

export type AccountOptions = {
  readonly limit: number
  /** Units taken from the store at a time, so that most requests need not ask it. */
  readonly leaseUnits: number
  /** How long a lease holds; the store counts from the moment it grants it, we from before we ask. */
  readonly leaseMs: number
  readonly lease: (call: LeaseCall) => Promise<LeaseAnswer>
  /** Asks the other gateways to give back what they have leased and not spent. */
  readonly recall: () => void
  readonly onFailure: (error: unknown) => void
  /** Shared by all keys, because it is the store that is unavailable. */
  readonly overdraft: Overdraft
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number
}

type Waiting = {
  readonly units: number
  readonly since: number
  readonly decide: (outcome: Reservation | Refusal) => void
}

type Ask = Pick<LeaseCall, 'need' | 'want' | 'least'>

const NOTHING: Ask = { need: 0, want: 0, least: 0 }
/** How long a request waits for units that others hold, or that are set aside for requests under way. */
const PATIENCE_MS = 500
const ASK_AGAIN_MS = 20
/** After a recall nothing is leased ahead for so long. */
const TIGHT_MS = 1_000

/**
 * What one key may still spend in one month, at this gateway. It spends from a lease: `spent` and `reserved` together
 * never go above `ceiling`, and the store never lets the ceilings of all gateways together go above the limit; only while the
 * store is away a gateway raises its ceiling by itself, within the overdraft. All three only name totals since the gateway
 * started, so that a call to the store can be lost or repeated without harm.
 */
export class Account {
  readonly #options: AccountOptions
  #spent = 0
  #reserved = 0
  #ceiling = 0
  #leaseEnds = 0
  #spentByOthers = 0
  #calls = 0
  #reportedSpent = 0
  #reportedCeiling = 0
  #usedAt: number
  #syncedAt = Number.NEGATIVE_INFINITY
  #tightUntil = 0
  #waiting: Waiting[] = []
  #isServing = false
  #turn: Promise<unknown> = Promise.resolve()
  #isReturning = false

  constructor(options: AccountOptions) {
    this.#options = options
    this.#usedAt = options.now()
  }

  get spent(): number {
    return this.#spent
  }

  /** As far as this gateway knows; what others spent since they were last heard of is missing. */
  get remaining(): number {
    return Math.max(0, this.#options.limit - this.#spentByOthers - this.#spent)
  }

  get isKnown(): boolean {
    return this.#syncedAt !== Number.NEGATIVE_INFINITY
  }

  /** Nothing under way and nothing leased. */
  get isSettled(): boolean {
    return this.#reserved === 0 && this.#waiting.length === 0 && this.#ceiling === this.#spent
  }

  /** For what is known to succeed, from what is at hand; if that is too little, nothing has happened. */
  spendNow(units: number): boolean {
    const now = this.#options.now()
    if (this.#waiting.length > 0 || units > this.#free(now)) return false
    this.#usedAt = now
    this.#spent += units
    this.#leaseAhead(now)
    if (this.#isTight(now)) this.#returnSoon()
    return true
  }

  reserve(units: number): Reservation | Promise<Reservation | Refusal> {
    const now = this.#options.now()
    this.#usedAt = now
    if (this.#waiting.length === 0 && units <= this.#free(now)) {
      const reservation = this.#setAside(units)
      this.#leaseAhead(now)
      return reservation
    }
    return new Promise((decide) => {
      this.#waiting.push({ units, since: this.#options.now(), decide })
      void this.#serve()
    })
  }

  /** Another gateway is out of units: what is not needed here goes back, until it is quiet again. */
  giveBack(): void {
    this.#tightUntil = this.#options.now() + TIGHT_MS
    this.#returnSoon()
  }

  /** Called periodically: reports what was spent, renews a lease in use, and returns an idle one. */
  async maintain(idleMs: number, syncMs: number): Promise<void> {
    const now = this.#options.now()
    if (this.#waiting.length > 0 || now - this.#syncedAt < syncMs) return
    const isIdle = now - this.#usedAt >= idleMs
    if (isIdle && this.#isReported) return
    await this.#sync(NOTHING, isIdle)
  }

  /** The last call: whatever is left goes back. */
  async close(): Promise<void> {
    if (!this.#isReported) await this.#sync(NOTHING, true)
  }

  /** Asks what all gateways have spent. */
  async refresh(): Promise<void> {
    await this.#sync(NOTHING, false)
  }

  /** The store knows all there is to know, and holds nothing for us. */
  get #isReported(): boolean {
    return this.isSettled && this.#reportedSpent === this.#spent && this.#reportedCeiling === this.#ceiling
  }

  #free(now = this.#options.now()): number {
    return now < this.#leaseEnds ? this.#ceiling - this.#spent - this.#reserved : 0
  }

  #setAside(units: number): Reservation {
    this.#reserved += units
    let isOpen = true
    const end = (charged: number): void => {
      if (!isOpen) return
      isOpen = false
      this.#reserved -= units
      this.#spent += charged
      if (this.#isTight()) this.#returnSoon()
    }
    return { charge: () => end(units), release: () => end(0) }
  }

  #isTight(now = this.#options.now()): boolean {
    return now < this.#tightUntil
  }

  /** The next lease is fetched before the present one is used up: then nobody waits for it. */
  #leaseAhead(now: number): void {
    const { leaseUnits, overdraft } = this.#options
    if (overdraft.isOpen) return
    const free = this.#free(now)
    if (free > leaseUnits / 4 || this.#isServing || this.#isTight(now) || this.remaining < 4 * leaseUnits)
      return
    this.#isServing = true
    this.#sync({ need: 0, want: leaseUnits - free, least: 0 }, false)
      .catch((error: unknown) => this.#options.onFailure(error))
      .finally(() => this.#endServing())
  }

  async #serve(): Promise<void> {
    if (this.#isServing) return
    this.#isServing = true
    try {
      for (;;) {
        this.#serveFromLease()
        // While the store is unavailable no request waits for it; `maintain` keeps reporting and notices when it is back.
        if (this.#options.overdraft.isOpen) this.#serveOnCredit()
        if (this.#waiting.length === 0) break
        const { need, answer } = await this.#leaseForWaiting()
        this.#serveFromLease()
        // Requests that arrived during the call are not part of its demand yet.
        if (this.#waiting.length === 0 || answer.granted >= need) continue
        const isHopeless = answer.leasedToOthers === 0 && this.#reserved === 0
        const now = this.#options.now()
        const isOver = ({ since }: Waiting): boolean => isHopeless || now - since >= PATIENCE_MS
        const retryMs = isHopeless ? undefined : Math.max(PATIENCE_MS, answer.othersEndMs)
        this.#refuse(isOver, { reason: 'exhausted', retryMs })
        if (this.#waiting.length === 0) break
        this.#tightUntil = now + TIGHT_MS
        if (answer.leasedToOthers > 0) this.#options.recall()
        await sleep(ASK_AGAIN_MS)
      }
    } catch (error) {
      this.#options.onFailure(error)
      if (this.#options.overdraft.isOpen) this.#serveOnCredit()
      this.#refuse(() => true, { reason: 'unavailable', retryMs: undefined })
    }
    this.#endServing()
  }

  #endServing(): void {
    this.#isServing = false
    if (this.#waiting.length > 0) void this.#serve()
    else if (this.#isTight()) this.#returnSoon()
  }

  /** Never asks for more than a lease, or than one request needs: that is what can be overspent if the store is lost. */
  async #leaseForWaiting(): Promise<{ need: number; answer: LeaseAnswer }> {
    const units = this.#waiting.map((waiting) => waiting.units)
    const asked = units.reduce((sum, each) => sum + each, 0)
    const most = Math.max(this.#options.leaseUnits, units[0] ?? 0)
    const need = Math.min(asked, most)
    // What is left here is too little for any of them. It goes back in the same step: together with what others give
    // back it may be enough, here or elsewhere.
    const ask = { need, want: this.#isTight() ? need : most, least: leastOf(units) }
    return { need, answer: await this.#sync(ask, true) }
  }

  #serveFromLease(): void {
    const left: Waiting[] = []
    for (const waiting of this.#waiting) {
      if (waiting.units <= this.#free()) waiting.decide(this.#setAside(waiting.units))
      else left.push(waiting)
    }
    this.#waiting = left
  }

  /** Up to what was known to be left when the store was last heard of. */
  #serveOnCredit(): void {
    const left: Waiting[] = []
    for (const waiting of this.#waiting) {
      if (waiting.units > this.remaining - this.#reserved) left.push(waiting)
      else {
        waiting.decide(this.#setAside(waiting.units))
        this.#ceiling = Math.max(this.#ceiling, this.#spent + this.#reserved)
      }
    }
    this.#waiting = left
  }

  #refuse(isOver: (waiting: Waiting) => boolean, refusal: Refusal): void {
    const over = this.#waiting.filter(isOver)
    this.#waiting = this.#waiting.filter((waiting) => !over.includes(waiting))
    for (const { decide } of over) decide(refusal)
  }

  /** Coalesces: one call reports everything up to the moment it runs. */
  #returnSoon(): void {
    if (this.#isReturning || this.#isServing) return
    this.#isReturning = true
    setImmediate(() => {
      this.#isReturning = false
      if (this.#isServing || !this.isKnown) return
      this.#sync(NOTHING, true).catch((error: unknown) => this.#options.onFailure(error))
    })
  }

  /** One call at a time: each starts from the ceiling that the one before it left. */
  #sync(ask: Ask, isReturn: boolean): Promise<LeaseAnswer> {
    const call = this.#turn.then(() => this.#call(ask, isReturn))
    this.#turn = call.catch(() => undefined)
    return call
  }

  async #call(ask: Ask, isReturn: boolean): Promise<LeaseAnswer> {
    const { lease, limit, leaseMs, now } = this.#options
    const askedAt = now()
    // Lowered before the call: once the store knows, others may lease the units. Those of an expired lease may already be taken.
    if (isReturn || askedAt >= this.#leaseEnds) this.#ceiling = this.#spent + this.#reserved
    const [spent, ceiling] = [this.#spent, this.#ceiling]
    const answer = await this.#ask(() => lease({ call: ++this.#calls, spent, ceiling, limit, ...ask }))
    // What was set aside on credit meanwhile is above what was asked from.
    this.#ceiling = Math.max(ceiling + answer.granted, this.#spent + this.#reserved)
    this.#leaseEnds = askedAt + leaseMs
    this.#spentByOthers = answer.spentByAll - spent
    this.#syncedAt = askedAt
    this.#reportedSpent = spent
    this.#reportedCeiling = ceiling + answer.granted
    return answer
  }

  async #ask(lease: () => Promise<LeaseAnswer>): Promise<LeaseAnswer> {
    const { overdraft } = this.#options
    try {
      const answer = await lease()
      overdraft.succeeded()
      return answer
    } catch (error) {
      overdraft.failed()
      throw error
    }
  }
}

/** Not `Math.min(...units)`: a call takes only so many arguments, and any number of requests may wait. */
function leastOf(units: readonly number[]): number {
  return units.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY)
}
