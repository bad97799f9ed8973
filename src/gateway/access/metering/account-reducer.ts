import type { LeaseAnswer } from '../../../store/redis/quota-store.ts'
import {
  type AccountEffect,
  type AccountEvent,
  type AccountRules,
  type AccountState,
  type Demand,
  type Draft,
  freeUnits,
  isKnown,
  isSettled,
  type Refusal,
  remainingUnits,
  type Step,
  type Sync,
  type Waiting,
} from './account-state.ts'

const REPORT: Demand = { need: 0, want: 0, least: 0 }
/** How long a request waits for units that others hold, or that are reserved by requests under way. */
const PATIENCE_MS = 500
const ASK_AGAIN_MS = 20
/** After a recall, nothing is leased ahead for this long. */
const TIGHT_MS = 1_000

/** Pure. A `spend` or `reserve` beyond the free units returns the same state. */
export function reduce(state: AccountState, event: AccountEvent, rules: AccountRules): Step {
  if (event.type === 'spend' || event.type === 'reserve') {
    if (state.waiting.length > 0 || event.units > freeUnits(state, event.now)) return { state, effects: [] }
  }
  const transition = new Transition({ ...state }, event, rules)
  transition.apply(event)
  return transition
}

/** Applies one event to a copy of the state and collects the effects. */
class Transition implements Step {
  readonly state: Draft
  readonly effects: AccountEffect[] = []
  readonly #now: number
  readonly #hasCredit: boolean
  readonly #rules: AccountRules

  constructor(state: Draft, { now, hasCredit }: AccountEvent, rules: AccountRules) {
    this.state = state
    this.#now = now
    this.#hasCredit = hasCredit
    this.#rules = rules
  }

  apply(event: AccountEvent): void {
    const { state } = this
    switch (event.type) {
      case 'spend':
        state.usedAt = this.#now
        state.spent += event.units
        this.#leaseAhead()
        if (this.#isTight) this.#returnSoon()
        break
      case 'reserve':
        state.usedAt = this.#now
        state.reserved += event.units
        this.#leaseAhead()
        break
      case 'wait':
        state.usedAt = this.#now
        state.waiting = [...state.waiting, { id: event.id, units: event.units, since: this.#now }]
        if (!state.isServing) this.#serve()
        break
      case 'end':
        state.reserved -= event.units
        state.spent += event.charged
        if (this.#isTight) this.#returnSoon()
        break
      case 'giveBack':
        state.tightUntil = this.#now + TIGHT_MS
        this.#returnSoon()
        break
      case 'maintain': {
        const isIdle = this.#now - state.usedAt >= event.idleMs
        const isDue = state.waiting.length === 0 && this.#now - state.syncedAt >= event.syncMs
        if (isDue && !(isIdle && this.#isReported)) this.#sync('caller', REPORT, isIdle, event.id)
        else this.#settle(event.id)
        break
      }
      case 'refresh':
        this.#sync('caller', REPORT, false, event.id)
        break
      case 'close':
        if (this.#isReported) this.#settle(event.id)
        else this.#sync('caller', REPORT, true, event.id)
        break
      case 'answered':
        this.#answered(event.answer)
        break
      case 'failed':
        this.#failed(event.error)
        break
      case 'retry':
        this.#serve()
        break
      case 'returnSoon':
        state.isReturning = false
        if (!state.isServing && isKnown(state)) this.#sync('return', REPORT, true)
        break
    }
  }

  get #free(): number {
    return freeUnits(this.state, this.#now)
  }

  get #remaining(): number {
    return remainingUnits(this.state, this.#rules)
  }

  get #isTight(): boolean {
    return this.#now < this.state.tightUntil
  }

  /** Whether the store has every spent unit and no lease of this gateway. */
  get #isReported(): boolean {
    const { state } = this
    return isSettled(state) && state.reportedSpent === state.spent && state.reportedCeiling === state.ceiling
  }

  /** Fetches the next lease before the current one is used up, so that no request waits for it. */
  #leaseAhead(): void {
    const { leaseUnits } = this.#rules
    if (this.#hasCredit || this.state.isServing || this.#isTight) return
    const free = this.#free
    if (free > leaseUnits / 4 || this.#remaining < 4 * leaseUnits) return
    this.state.isServing = true
    this.#sync('ahead', { need: 0, want: leaseUnits - free, least: 0 }, false)
  }

  #serve(): void {
    this.state.isServing = true
    this.#serveFromLease()
    // While the store is unavailable no request waits for it; `maintain` keeps reporting and notices when it is back.
    if (this.#hasCredit) this.#serveOnCredit()
    if (this.state.waiting.length === 0) this.#endServing()
    // The remaining units are too few for any waiting request, so the same call returns them: together with those of
    // other gateways they may be enough, here or elsewhere.
    else this.#sync('serve', this.#demand(), true)
  }

  #endServing(): void {
    this.state.isServing = false
    if (this.state.waiting.length > 0) this.#serve()
    else if (this.#isTight) this.#returnSoon()
  }

  /** Never more than a lease or a single request, because that is what can be overspent if the store is lost. */
  #demand(): Demand {
    const { waiting } = this.state
    let asked = 0
    let least = Number.POSITIVE_INFINITY
    for (const { units } of waiting) {
      asked += units
      least = Math.min(least, units)
    }
    const most = Math.max(this.#rules.leaseUnits, waiting[0]?.units ?? 0)
    const need = Math.min(asked, most)
    return { need, want: this.#isTight ? need : most, least }
  }

  #serveFromLease(): void {
    this.#admit((units) => units <= this.#free)
  }

  /** Up to the balance in the store's last answer. */
  #serveOnCredit(): void {
    this.#admit((units) => units <= this.#remaining - this.state.reserved)
    this.state.ceiling = Math.max(this.state.ceiling, this.state.spent + this.state.reserved)
  }

  /** First come, first served, but a request that is too large does not hold up a smaller one. */
  #admit(fits: (units: number) => boolean): void {
    this.state.waiting = this.state.waiting.filter(({ id, units }) => {
      if (!fits(units)) return true
      this.state.reserved += units
      this.effects.push({ type: 'admit', id, units })
      return false
    })
  }

  #refuse(isOver: (waiting: Waiting) => boolean, refusal: Refusal): void {
    this.state.waiting = this.state.waiting.filter((waiting) => {
      if (!isOver(waiting)) return true
      this.effects.push({ type: 'refuse', id: waiting.id, refusal })
      return false
    })
  }

  #returnSoon(): void {
    if (this.state.isReturning || this.state.isServing) return
    this.state.isReturning = true
    this.effects.push({ type: 'returnSoon' })
  }

  #settle(id: number, failure?: { readonly error: unknown }): void {
    this.effects.push({ type: 'settle', id, failure })
  }

  #sync(purpose: Sync['purpose'], { need, want, least }: Demand, isReturn: boolean, id = 0): void {
    this.state.syncs = [...this.state.syncs, { purpose, need, want, least, isReturn, id }]
    this.#callNext()
  }

  #callNext(): void {
    const { state } = this
    const [sync] = state.syncs
    if (sync === undefined || state.inFlight !== undefined) return
    // Lowered before the call: once the store knows, others may lease the units. Those of an expired lease may already be taken.
    if (sync.isReturn || this.#now >= state.leaseEnds) state.ceiling = state.spent + state.reserved
    const { spent, ceiling } = state
    const { need, want, least } = sync
    state.calls++
    state.inFlight = { askedAt: this.#now, spent, ceiling }
    const { limit } = this.#rules
    this.effects.push({ type: 'call', call: { call: state.calls, spent, ceiling, limit, need, want, least } })
  }

  #takeSync(): { readonly sync: Sync; readonly asked: NonNullable<Draft['inFlight']> } {
    const { inFlight: asked } = this.state
    const [sync, ...later] = this.state.syncs
    if (sync === undefined || asked === undefined) throw new Error('an outcome without a call')
    this.state.syncs = later
    this.state.inFlight = undefined
    return { sync, asked }
  }

  #answered(answer: LeaseAnswer): void {
    const { state } = this
    const { sync, asked } = this.#takeSync()
    // A lease that expired during the call may have gone to others before the store saw the call; a grant proves that
    // it did not.
    const isLapsed = answer.granted === 0 && asked.askedAt < state.leaseEnds && this.#now >= state.leaseEnds
    // Units reserved on credit meanwhile are above the ceiling of the call.
    state.ceiling = Math.max(isLapsed ? 0 : asked.ceiling + answer.granted, state.spent + state.reserved)
    state.leaseEnds = asked.askedAt + this.#rules.leaseMs
    state.spentByOthers = answer.spentByAll - asked.spent
    state.syncedAt = asked.askedAt
    state.reportedSpent = asked.spent
    state.reportedCeiling = asked.ceiling + answer.granted
    if (sync.purpose === 'serve') this.#served(answer, sync.need)
    else if (sync.purpose === 'ahead') this.#endServing()
    else if (sync.purpose === 'caller') this.#settle(sync.id)
    this.#callNext()
  }

  #served(answer: LeaseAnswer, need: number): void {
    const { state } = this
    this.#serveFromLease()
    // Requests that arrived during the call are not part of its demand yet.
    if (state.waiting.length === 0 || answer.granted >= need) {
      this.#serve()
      return
    }
    const isHopeless = answer.leasedToOthers === 0 && state.reserved === 0
    const retryMs = isHopeless ? undefined : Math.max(PATIENCE_MS, answer.othersEndMs)
    this.#refuse(({ since }) => isHopeless || this.#now - since >= PATIENCE_MS, {
      reason: 'exhausted',
      retryMs,
    })
    if (state.waiting.length === 0) {
      this.#endServing()
      return
    }
    state.tightUntil = this.#now + TIGHT_MS
    if (answer.leasedToOthers > 0) this.effects.push({ type: 'recall' })
    this.effects.push({ type: 'retry', afterMs: ASK_AGAIN_MS })
  }

  #failed(error: unknown): void {
    const { sync } = this.#takeSync()
    if (sync.purpose === 'caller') this.#settle(sync.id, { error })
    else this.effects.push({ type: 'logFailure', error })
    if (sync.purpose === 'serve') {
      if (this.#hasCredit) this.#serveOnCredit()
      this.#refuse(() => true, { reason: 'unavailable', retryMs: undefined })
    }
    if (sync.purpose === 'serve' || sync.purpose === 'ahead') this.#endServing()
    this.#callNext()
  }
}
