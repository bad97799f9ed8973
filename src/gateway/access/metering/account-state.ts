import type { LeaseAnswer, LeaseCall } from '../../../store/redis/quota-store.ts'

/** `exhausted`: nothing is left; `retryMs` says when that may change. `unavailable`: the balance is unknown. */
export type Refusal = {
  readonly reason: 'exhausted' | 'unavailable'
  readonly retryMs: number | undefined
}

export type AccountRules = {
  readonly limit: number
  /** Units taken from the store at a time, so that most requests need no call. */
  readonly leaseUnits: number
  /** Lifetime of a lease; the store counts from the moment it grants it, a gateway from before it asks. */
  readonly leaseMs: number
}

export type Waiting = { readonly id: number; readonly units: number; readonly since: number }

export type Demand = Pick<LeaseCall, 'need' | 'want' | 'least'>

/** A call to the store: for requests that wait, ahead of demand, because others are out of units, or for a caller. */
export type Sync = Demand & {
  readonly purpose: 'serve' | 'ahead' | 'return' | 'caller'
  /** Identifies the caller; 0 for none. */
  readonly id: number
  /** Gives back what is neither spent nor reserved. */
  readonly isReturn: boolean
}

/**
 * Credit units of one key and month at one gateway. It spends from a lease: `spent + reserved` never exceeds `ceiling`, and
 * the store never lets the ceilings of all gateways together exceed the limit; only while the store is unavailable a gateway
 * raises its own ceiling, within the overdraft. All three are totals since the gateway started, so that a call to the store
 * can be lost or repeated without harm.
 */
export type AccountState = Readonly<Draft>

export type Draft = {
  spent: number
  reserved: number
  ceiling: number
  leaseEnds: number
  spentByOthers: number
  /** Calls made so far. */
  calls: number
  reportedSpent: number
  reportedCeiling: number
  usedAt: number
  /** Negative infinity until the first answer. */
  syncedAt: number
  /** Until then nothing is leased ahead, because other gateways are out of units. */
  tightUntil: number
  waiting: readonly Waiting[]
  /** A call for waiting requests or ahead of demand is under way, or about to be repeated. */
  isServing: boolean
  isReturning: boolean
  /** The first is in flight: each call starts from the ceiling that the one before it left. */
  syncs: readonly Sync[]
  inFlight: { readonly askedAt: number; readonly spent: number; readonly ceiling: number } | undefined
}

/** `hasCredit`: the store is unavailable, and the overdraft is open. */
export type AccountEvent = { readonly now: number; readonly hasCredit: boolean } & (
  | { readonly type: 'spend' | 'reserve'; readonly units: number }
  | { readonly type: 'wait'; readonly id: number; readonly units: number }
  /** A reservation ends; `charged` is all of it or 0. */
  | { readonly type: 'end'; readonly units: number; readonly charged: number }
  /** Another gateway is out of units. */
  | { readonly type: 'giveBack' }
  | { readonly type: 'maintain'; readonly id: number; readonly idleMs: number; readonly syncMs: number }
  | { readonly type: 'refresh' | 'close'; readonly id: number }
  | { readonly type: 'answered'; readonly answer: LeaseAnswer }
  | { readonly type: 'failed'; readonly error: unknown }
  /** Asked for by the effects of the same name. */
  | { readonly type: 'retry' | 'returnSoon' }
)

/** Each `wait` ends in one `admit` or `refuse`, each `maintain`, `refresh` and `close` in one `settle`. */
export type AccountEffect =
  | { readonly type: 'call'; readonly call: LeaseCall }
  | { readonly type: 'admit'; readonly id: number; readonly units: number }
  | { readonly type: 'refuse'; readonly id: number; readonly refusal: Refusal }
  | {
      readonly type: 'settle'
      readonly id: number
      readonly failure: { readonly error: unknown } | undefined
    }
  /** No caller waits for this call, so its failure is only logged. */
  | { readonly type: 'logFailure'; readonly error: unknown }
  /** Asks the other gateways to give back what they have leased and not spent. */
  | { readonly type: 'recall' }
  | { readonly type: 'retry'; readonly afterMs: number }
  /** After this turn of the event loop, so that one call returns all that it freed. */
  | { readonly type: 'returnSoon' }

export type Step = { readonly state: AccountState; readonly effects: readonly AccountEffect[] }

export function openState(now: number): AccountState {
  return {
    ...{ spent: 0, reserved: 0, ceiling: 0, leaseEnds: 0, spentByOthers: 0, calls: 0 },
    ...{
      reportedSpent: 0,
      reportedCeiling: 0,
      usedAt: now,
      syncedAt: Number.NEGATIVE_INFINITY,
      tightUntil: 0,
    },
    ...{ waiting: [], isServing: false, isReturning: false, syncs: [], inFlight: undefined },
  }
}

/** As far as this gateway knows: units that others spent since the last call are missing. */
export function remainingUnits({ spentByOthers, spent }: AccountState, { limit }: AccountRules): number {
  return Math.max(0, limit - spentByOthers - spent)
}

export function isKnown({ syncedAt }: AccountState): boolean {
  return syncedAt !== Number.NEGATIVE_INFINITY
}

/** Nothing in progress and nothing leased. */
export function isSettled({ reserved, waiting, ceiling, spent }: AccountState): boolean {
  return reserved === 0 && waiting.length === 0 && ceiling === spent
}

/** Leased units that no request has. */
export function freeUnits({ leaseEnds, ceiling, spent, reserved }: AccountState, now: number): number {
  return now < leaseEnds ? ceiling - spent - reserved : 0
}
