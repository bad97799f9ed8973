import type { LeaseAnswer, LeaseCall } from '../../../store/redis/quota-store.ts'
import { reduce } from './account-reducer.ts'
import {
  type AccountEffect,
  type AccountEvent,
  type AccountRules,
  type AccountState,
  isKnown,
  isSettled,
  openState,
  type Refusal,
  remainingUnits,
} from './account-state.ts'
import type { Overdraft } from './overdraft.ts'

/** Units set aside for one request; exactly one of the two is called, when its outcome is known. */
export type Reservation = { charge(): void; release(): void }

export type AccountOptions = AccountRules & {
  readonly lease: (call: LeaseCall) => Promise<LeaseAnswer>
  /** Asks the other gateways to give back what they have leased and not spent. */
  readonly recall: () => void
  readonly onFailure: (error: unknown) => void
  /** Shared by all keys, because it is the store that is unavailable. */
  readonly overdraft: Overdraft
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number
}

/** An account's state with its clock, timers, calls to the store and callers; the reducer decides everything else. */
export class Account {
  readonly #options: AccountOptions
  #state: AccountState
  #lastId = 0
  readonly #requests = new Map<number, (outcome: Reservation | Refusal) => void>()
  readonly #callers = new Map<number, PromiseWithResolvers<void>>()

  constructor(options: AccountOptions) {
    this.#options = options
    this.#state = openState(options.now())
  }

  get spent(): number {
    return this.#state.spent
  }

  get remaining(): number {
    return remainingUnits(this.#state, this.#options)
  }

  get isKnown(): boolean {
    return isKnown(this.#state)
  }

  get isSettled(): boolean {
    return isSettled(this.#state)
  }

  /** For what is known to succeed, from what is at hand; if that is too little, nothing has happened. */
  spendNow(units: number): boolean {
    return this.#dispatch({ type: 'spend', units, now: this.#now, hasCredit: this.#hasCredit })
  }

  reserve(units: number): Reservation | Promise<Reservation | Refusal> {
    if (this.#dispatch({ type: 'reserve', units, now: this.#now, hasCredit: this.#hasCredit }))
      return this.#reservation(units)
    return new Promise((decide) => {
      const id = ++this.#lastId
      this.#requests.set(id, decide)
      this.#dispatch({ type: 'wait', id, units, now: this.#now, hasCredit: this.#hasCredit })
    })
  }

  /** Another gateway is out of units: what is not needed here goes back, until it is quiet again. */
  giveBack(): void {
    this.#dispatch({ type: 'giveBack', now: this.#now, hasCredit: this.#hasCredit })
  }

  /** Called periodically: reports what was spent, renews a lease in use, and returns an idle one. */
  maintain(idleMs: number, syncMs: number): Promise<void> {
    return this.#settled((id) => ({
      type: 'maintain',
      id,
      idleMs,
      syncMs,
      now: this.#now,
      hasCredit: this.#hasCredit,
    }))
  }

  /** The last call: whatever is left goes back. */
  close(): Promise<void> {
    return this.#settled((id) => ({ type: 'close', id, now: this.#now, hasCredit: this.#hasCredit }))
  }

  /** Asks what all gateways have spent. */
  refresh(): Promise<void> {
    return this.#settled((id) => ({ type: 'refresh', id, now: this.#now, hasCredit: this.#hasCredit }))
  }

  get #now(): number {
    return this.#options.now()
  }

  get #hasCredit(): boolean {
    return this.#options.overdraft.isOpen
  }

  #reservation(units: number): Reservation {
    let isOpen = true
    const end = (charged: number): void => {
      if (!isOpen) return
      isOpen = false
      this.#dispatch({ type: 'end', units, charged, now: this.#now, hasCredit: this.#hasCredit })
    }
    return { charge: () => end(units), release: () => end(0) }
  }

  #settled(event: (id: number) => AccountEvent): Promise<void> {
    const id = ++this.#lastId
    const caller = Promise.withResolvers<void>()
    this.#callers.set(id, caller)
    this.#dispatch(event(id))
    return caller.promise
  }

  /** False if nothing has happened. */
  #dispatch(event: AccountEvent): boolean {
    const before = this.#state
    const { state, effects } = reduce(before, event, this.#options)
    this.#state = state
    for (const effect of effects) this.#run(effect)
    return state !== before
  }

  #run(effect: AccountEffect): void {
    switch (effect.type) {
      case 'call':
        void this.#call(effect.call)
        break
      case 'admit':
        this.#decide(effect.id, this.#reservation(effect.units))
        break
      case 'refuse':
        this.#decide(effect.id, effect.refusal)
        break
      case 'settle':
        this.#settle(effect.id, effect.failure)
        break
      case 'logFailure':
        this.#options.onFailure(effect.error)
        break
      case 'recall':
        this.#recall()
        break
      case 'retry':
        setTimeout(
          () => this.#dispatch({ type: 'retry', now: this.#now, hasCredit: this.#hasCredit }),
          effect.afterMs,
        )
        break
      case 'returnSoon':
        setImmediate(() => this.#dispatch({ type: 'returnSoon', now: this.#now, hasCredit: this.#hasCredit }))
        break
    }
  }

  async #call(call: LeaseCall): Promise<void> {
    const { lease, overdraft } = this.#options
    // A lease makes the usage before it durable; the request that caused it is counted only after it has its units.
    await undefined
    const outcome = await lease(call).then(
      (answer) => ({ type: 'answered', answer }) as const,
      (error: unknown) => ({ type: 'failed', error }) as const,
    )
    if (outcome.type === 'answered') overdraft.succeeded()
    else overdraft.failed()
    this.#dispatch({ ...outcome, now: this.#now, hasCredit: this.#hasCredit })
  }

  /** Without it the requests wait for the other leases to end. */
  #recall(): void {
    try {
      this.#options.recall()
    } catch (error) {
      this.#options.onFailure(error)
    }
  }

  #decide(id: number, outcome: Reservation | Refusal): void {
    this.#requests.get(id)?.(outcome)
    this.#requests.delete(id)
  }

  #settle(id: number, failure: { readonly error: unknown } | undefined): void {
    if (failure === undefined) this.#callers.get(id)?.resolve()
    else this.#callers.get(id)?.reject(failure.error)
    this.#callers.delete(id)
  }
}
