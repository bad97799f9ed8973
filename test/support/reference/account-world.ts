import assert from 'node:assert/strict'
import { reduce } from '../../../src/gateway/access/metering/account-reducer.ts'
import {
  type AccountEvent,
  type AccountState,
  isSettled,
  openState,
  type Refusal,
} from '../../../src/gateway/access/metering/account-state.ts'
import type { LeaseAnswer, LeaseCall } from '../../../src/store/redis/quota-store.ts'

export const LEASE_MS = 2_000
export const OVERDRAFT_MS = 3_000
export const GATEWAYS = 2

type Entry = { spent: number; ceiling: number; ends: number; call: number }

/** The rules of `lease.lua`: one month of one key. */
class Store {
  readonly entries = new Map<number, Entry>()

  lease(
    gateway: number,
    { call, spent, ceiling, limit, need, want, least }: LeaseCall,
    now: number,
  ): LeaseAnswer | undefined {
    if ((this.entries.get(gateway)?.call ?? 0) >= call) return undefined
    const others = [...this.entries].filter(([name]) => name !== gateway).map(([, entry]) => entry)
    const holders = others.filter((entry) => entry.ends > now && entry.ceiling > entry.spent)
    const spentByOthers = others.reduce((sum, entry) => sum + entry.spent, 0)
    const leasedToOthers = holders.reduce((sum, entry) => sum + entry.ceiling - entry.spent, 0)
    const left = limit - spentByOthers - leasedToOthers - ceiling
    const share = Math.floor(left / (2 * (holders.length + 1)))
    let granted = Math.max(0, Math.min(left, Math.max(need, Math.min(want, share))))
    if (granted < least) granted = 0
    this.entries.set(gateway, { spent, ceiling: ceiling + granted, ends: now + LEASE_MS, call })
    const othersEndMs = holders.length === 0 ? 0 : Math.min(...holders.map(({ ends }) => ends)) - now
    return { granted, spentByAll: spentByOthers + spent, leasedToOthers, othersEndMs }
  }
}

/** What a request sees of an account: units it spent, units it has, and requests and callers without an outcome. */
type Model = {
  spent: number
  readonly open: number[]
  readonly waiting: Map<number, number>
  readonly callers: Set<number>
}

type Gateway = {
  readonly name: number
  readonly month: Month
  readonly model: Model
  state: AccountState
  call: LeaseCall | undefined
  readonly timers: ('retry' | 'returnSoon')[]
}

type Month = { readonly store: Store; readonly gateways: Gateway[]; overspendable: number }

export type Happening =
  | { readonly type: 'spend' | 'reserve' | 'wait'; readonly at: number; readonly units: number }
  | { readonly type: 'end'; readonly at: number; readonly nth: number; readonly isCharged: boolean }
  | { readonly type: 'giveBack' | 'maintain' | 'refresh' | 'close' | 'timer'; readonly at: number }
  | {
      readonly type: 'deliver'
      readonly at: number
      readonly fate: 'answer' | 'lost' | 'answer lost' | 'late'
    }
  | { readonly type: 'late call'; readonly nth: number }
  | { readonly type: 'advance'; readonly ms: number }
  | { readonly type: 'next month' }

/** Gateways that share a key, a store that loses calls and answers, and a clock. */
export class AccountWorld {
  readonly #rules: { readonly limit: number; readonly leaseUnits: number; readonly leaseMs: number }
  readonly #overdraftMs: number
  readonly #months: Month[] = []
  readonly #late: { readonly gateway: Gateway; readonly call: LeaseCall }[] = []
  #now = 1
  #lastId = 0
  #awaySince: number | undefined

  constructor(limit: number, leaseUnits: number, overdraftMs: number) {
    this.#rules = { limit, leaseUnits, leaseMs: LEASE_MS }
    this.#overdraftMs = overdraftMs
    this.#startMonth()
  }

  /** False if it cannot happen now. */
  apply(happening: Happening): boolean {
    if (happening.type === 'advance') return this.#advance(happening.ms)
    if (happening.type === 'next month') {
      if (this.#months.length > 1) return false
      this.#startMonth()
      return true
    }
    if (happening.type === 'late call') {
      const [late] = this.#late.splice(happening.nth % Math.max(1, this.#late.length), 1)
      if (late !== undefined) late.gateway.month.store.lease(late.gateway.name, late.call, this.#now)
      return late !== undefined
    }
    const all = this.#months.flatMap(({ gateways }) => gateways)
    // Requests that begin are of the present month; the rest may concern either.
    const isNew = happening.type === 'spend' || happening.type === 'reserve' || happening.type === 'wait'
    const among = isNew ? (this.#months.at(-1)?.gateways ?? []) : all
    const gateway = among[happening.at % among.length]
    assert.ok(gateway !== undefined)
    return this.#applyTo(gateway, happening)
  }

  check(): void {
    for (const { gateways, overspendable } of this.#months) {
      let used = 0
      for (const { model, state } of gateways) {
        const open = model.open.reduce((sum, units) => sum + units, 0)
        assert.deepEqual([state.spent, state.reserved], [model.spent, open], 'spent and reserved')
        assert.deepEqual(new Map(state.waiting.map(({ id, units }) => [id, units])), model.waiting)
        assert.ok(state.spent + state.reserved <= state.ceiling, 'within the ceiling')
        assert.ok(model.waiting.size === 0 || state.isServing, 'a waiting request is being served')
        used += state.spent + state.reserved
      }
      assert.ok(
        used <= this.#rules.limit + overspendable,
        `${used} used of ${this.#rules.limit} + ${overspendable}`,
      )
    }
  }

  /** The store is back and every request ends: every outcome arrives, and no unit is lost. */
  finish(): void {
    this.#awaySince = undefined
    this.#drain()
    for (const gateway of this.#months.flatMap(({ gateways }) => gateways)) {
      this.#applyTo(gateway, { type: 'close', at: 0 })
    }
    this.#drain()
    for (const { store, gateways } of this.#months) {
      const spent = gateways.reduce((sum, { model }) => sum + model.spent, 0)
      assert.ok(gateways.every(({ state }) => isSettled(state)))
      assert.ok(gateways.every(({ model }) => model.waiting.size === 0 && model.callers.size === 0))
      const reported = [...store.entries.values()]
      assert.equal(
        reported.reduce((sum, entry) => sum + entry.spent, 0),
        spent,
      )
      // A lease whose answer was lost lasts until it ends.
      this.#advance(LEASE_MS)
      const left = this.#rules.limit - spent
      const [first] = gateways
      if (left <= 0 || first === undefined) continue
      this.#applyTo(first, { type: 'wait', at: 0, units: left })
      this.#deliver(first, 'answer')
      assert.deepEqual(first.model.open, [left], 'all that is left can be had')
    }
  }

  #startMonth(): void {
    const month: Month = { store: new Store(), gateways: [], overspendable: 0 }
    for (let name = 0; name < GATEWAYS; name++) {
      const model = { spent: 0, open: [], waiting: new Map(), callers: new Set<number>() }
      const [state, call] = [openState(this.#now), undefined]
      month.gateways.push({ name, month, model, state, call, timers: [] })
    }
    this.#months.push(month)
  }

  /**
   * Once a lease ends, the store counts only what was reported: the rest may be overspent. A gateway that reaches the store
   * reports every few seconds and a request takes seconds, so without an overdraft the clock stops before that.
   */
  #advance(ms: number): boolean {
    const ending = this.#months
      .flatMap(({ gateways }) => gateways)
      .filter(({ state }) => this.#now < state.leaseEnds && this.#now + ms >= state.leaseEnds)
    const unreported = ({ state }: Gateway): number => state.spent + state.reserved - state.reportedSpent
    if (this.#overdraftMs === 0 && ending.some((gateway) => unreported(gateway) > 0)) return false
    for (const gateway of ending) gateway.month.overspendable += unreported(gateway)
    this.#now += ms
    return true
  }

  get #hasCredit(): boolean {
    return this.#awaySince !== undefined && this.#now - this.#awaySince < this.#overdraftMs
  }

  #applyTo(gateway: Gateway, happening: Happening): boolean {
    const { model } = gateway
    const moment = { now: this.#now, hasCredit: this.#hasCredit }
    switch (happening.type) {
      case 'spend':
      case 'reserve': {
        const { type, units } = happening
        if (!this.#dispatch(gateway, { type, units, ...moment })) return false
        if (type === 'spend') model.spent += units
        else model.open.push(units)
        return true
      }
      case 'wait':
        model.waiting.set(++this.#lastId, happening.units)
        return this.#dispatch(gateway, { type: 'wait', id: this.#lastId, units: happening.units, ...moment })
      case 'end': {
        const [ended] = model.open.splice(happening.nth % Math.max(1, model.open.length), 1)
        if (ended === undefined) return false
        const charged = happening.isCharged ? ended : 0
        model.spent += charged
        return this.#dispatch(gateway, { type: 'end', units: ended, charged, ...moment })
      }
      case 'giveBack':
        return this.#dispatch(gateway, { type: 'giveBack', ...moment })
      case 'maintain':
      case 'refresh':
      case 'close': {
        const id = ++this.#lastId
        model.callers.add(id)
        if (happening.type === 'maintain') {
          return this.#dispatch(gateway, { type: 'maintain', id, idleMs: 1_000, syncMs: 500, ...moment })
        }
        return this.#dispatch(gateway, {
          type: happening.type === 'close' ? 'close' : 'refresh',
          id,
          ...moment,
        })
      }
      case 'timer': {
        const type = gateway.timers.shift()
        return type !== undefined && this.#dispatch(gateway, { type, ...moment })
      }
      case 'deliver':
        return this.#deliver(gateway, happening.fate)
      default:
        return false
    }
  }

  #deliver(gateway: Gateway, fate: 'answer' | 'lost' | 'answer lost' | 'late'): boolean {
    const { call, month, name } = gateway
    if (call === undefined) return false
    gateway.call = undefined
    if (fate === 'late') this.#late.push({ gateway, call })
    const isProcessed = fate === 'answer' || fate === 'answer lost'
    const answer = isProcessed ? month.store.lease(name, call, this.#now) : undefined
    const isAnswered = fate === 'answer' && answer !== undefined
    if (isAnswered) this.#awaySince = undefined
    else this.#awaySince ??= this.#now
    const moment = { now: this.#now, hasCredit: this.#hasCredit }
    if (isAnswered) return this.#dispatch(gateway, { type: 'answered', answer, ...moment })
    return this.#dispatch(gateway, { type: 'failed', error: fate, ...moment })
  }

  #dispatch(gateway: Gateway, event: AccountEvent): boolean {
    const { model, month } = gateway
    // Frozen: a reducer that changed the state it was given would throw.
    const before = Object.freeze(gateway.state)
    const { state, effects } = reduce(before, event, this.#rules)
    gateway.state = state
    for (const effect of effects) {
      if (effect.type === 'admit') {
        assert.equal(model.waiting.get(effect.id), effect.units)
        model.waiting.delete(effect.id)
        model.open.push(effect.units)
        if (event.hasCredit) month.overspendable += effect.units
      } else if (effect.type === 'refuse') {
        assert.ok(model.waiting.delete(effect.id), 'one outcome')
        this.#checkRefusal(gateway, effect.refusal, event)
      } else if (effect.type === 'settle') assert.ok(model.callers.delete(effect.id), 'one outcome')
      else if (effect.type === 'call') {
        assert.equal(gateway.call, undefined, 'one call at a time')
        gateway.call = effect.call
      } else if (effect.type === 'recall') {
        for (const other of month.gateways) {
          if (other === gateway) continue
          this.#dispatch(other, { type: 'giveBack', now: this.#now, hasCredit: this.#hasCredit })
        }
      } else if (effect.type === 'retry' || effect.type === 'returnSoon') gateway.timers.push(effect.type)
    }
    return state !== before
  }

  #checkRefusal({ model }: Gateway, { reason, retryMs }: Refusal, event: AccountEvent): void {
    if (reason === 'unavailable') assert.equal(event.type, 'failed')
    else if (retryMs === undefined) assert.equal(model.open.length, 0, 'units under way may come back')
  }

  /** All calls are answered, all timers fire and all requests end without a charge, until nothing is left to do. */
  #drain(): void {
    for (let turn = 0; turn < 1_000; turn++) {
      let isIdle = true
      for (const gateway of this.#months.flatMap(({ gateways }) => gateways)) {
        for (const happening of DRAIN) if (this.#applyTo(gateway, happening)) isIdle = false
      }
      this.check()
      if (isIdle) return
      if (this.#advance(20)) continue
      // The clock stops before a lease with unreported units ends, while requests wait for it to go on.
      for (const gateway of this.#months.flatMap(({ gateways }) => gateways))
        this.#applyTo(gateway, { type: 'refresh', at: 0 })
    }
    assert.fail('a request waits forever')
  }
}

const DRAIN: readonly Happening[] = [
  { type: 'deliver', at: 0, fate: 'answer' },
  { type: 'timer', at: 0 },
  { type: 'end', at: 0, nth: 0, isCharged: false },
]
