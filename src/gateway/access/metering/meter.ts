import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../../lib/logger.ts'
import type { QuotaStore } from '../../../store/redis/quota-store.ts'
import type { Grant } from '../keys/key-ring.ts'
import { Account, type Reservation } from './account.ts'
import type { Refusal } from './account-state.ts'
import { billingDay, billingMonth } from './billing-month.ts'
import { Overdraft } from './overdraft.ts'
import type { UsageLedger } from './usage-ledger.ts'

/** Units set aside for one request of a known operation. */
export type Bill = Reservation & { readonly cu: number }

export type Balance = {
  readonly limit: number
  /** Undefined until the store has reported it. */
  readonly remaining: number | undefined
  readonly resetAt: number
}

export type MeterOptions = {
  readonly store: Pick<QuotaStore, 'lease'>
  readonly ledger: UsageLedger
  readonly leaseUnits: number
  readonly leaseMs: number
  /** How long keys are served on credit once Redis is away. */
  readonly overdraftMs: number
  readonly reportRecall: (keyId: string) => void
  readonly onRefusal: (reason: Refusal['reason']) => void
  readonly logger: Logger
  readonly signal: AbortSignal
}

const TICK_MS = 1_000
/** A lease that was not used for so long goes back. */
const IDLE_MS = 5_000
/** How old the knowledge of what others spent may become. */
const SYNC_MS = 2_000
/** A lease waits so long for the usage before it to be durable. */
const DURABLE_MS = 250

/** Charges keys for what they ask. */
export class Meter {
  readonly #options: MeterOptions
  /** By month, then by key: names that are there already, so that no request makes one. */
  readonly #accounts = new Map<string, Map<string, Account>>()

  readonly #overdraft: Overdraft

  constructor(options: MeterOptions) {
    this.#options = options
    this.#overdraft = new Overdraft({ maxMs: options.overdraftMs, now: () => performance.now() })
  }

  /** Sets the cost aside, before the work is done. */
  open(grant: Grant, operation: string, cu: number): Bill | Promise<Bill | Refusal> {
    const now = Date.now()
    const reserved = cu === 0 ? FREE : this.#account(grant, now).reserve(cu)
    if (!(reserved instanceof Promise)) return this.#bill(reserved, now, grant, operation, cu)
    return reserved.then((decided) => {
      if (!('reason' in decided)) return this.#bill(decided, now, grant, operation, cu)
      this.#options.onRefusal(decided.reason)
      return decided
    })
  }

  /** Charges at once what is known to succeed; if there is not enough at hand, nothing has happened. */
  chargeNow(grant: Grant, operation: string, cu: number): boolean {
    const now = Date.now()
    if (cu > 0 && !this.#account(grant, now).spendNow(cu)) return false
    this.#options.ledger.count(billingDay(now), grant.keyId, operation, cu)
    return true
  }

  balance(grant: Grant, now = Date.now()): Balance {
    const account = this.#account(grant, now)
    return {
      limit: grant.plan.cuPerMonth,
      remaining: account.isKnown ? account.remaining : undefined,
      resetAt: billingMonth(now).endsAt,
    }
  }

  /** After asking what the other gateways have spent. */
  async freshBalance(grant: Grant): Promise<Balance> {
    await this.#account(grant, Date.now()).refresh()
    return this.balance(grant)
  }

  /** Another gateway needs what this key has left here. */
  giveBack(keyId: string): void {
    this.#accounts.get(billingMonth(Date.now()).name)?.get(keyId)?.giveBack()
  }

  /** Reports, renews and returns leases until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options
    while (!signal.aborted) {
      await sleep(TICK_MS, undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) await this.#maintain()
    }
  }

  /** Gives every lease back and makes all usage durable. */
  async close(): Promise<void> {
    await this.#forAll((account) => account.close())
    await this.#options.ledger.flushAll(Date.now())
  }

  async #maintain(): Promise<void> {
    const { ledger, logger } = this.#options
    await this.#forAll((account) => account.maintain(IDLE_MS, SYNC_MS))
    await ledger.flushAll(Date.now()).catch((error: unknown) => {
      logger.warn({ err: error }, 'Usage write failed; retrying')
    })
    const { name } = billingMonth(Date.now())
    for (const [month, accounts] of this.#accounts) {
      if (month === name) continue
      for (const [keyId, account] of accounts) if (account.isSettled) accounts.delete(keyId)
      if (accounts.size === 0) this.#accounts.delete(month)
    }
  }

  async #forAll(work: (account: Account) => Promise<void>): Promise<void> {
    const { logger } = this.#options
    const failures = (
      await Promise.allSettled([...this.#accounts.values()].flatMap((each) => [...each.values()]).map(work))
    ).flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    // One line, not one for each key.
    if (failures.length > 0) {
      logger.warn({ err: failures[0], accounts: failures.length }, 'Lease settlement failed')
    }
  }

  #bill(reserved: Reservation, now: number, { keyId }: Grant, operation: string, cu: number): Bill {
    const day = billingDay(now)
    return {
      cu,
      charge: () => {
        this.#options.ledger.count(day, keyId, operation, cu)
        reserved.charge()
      },
      release: reserved.release,
    }
  }

  #account(grant: Grant, now: number): Account {
    const month = billingMonth(now).name
    const accounts = this.#accounts.get(month) ?? new Map<string, Account>()
    const known = accounts.get(grant.keyId)
    if (known !== undefined) return known
    const { leaseUnits, leaseMs, reportRecall, logger } = this.#options
    const ref = { keyId: grant.keyId, month }
    const account = new Account({
      limit: grant.plan.cuPerMonth,
      leaseUnits,
      leaseMs,
      lease: async (call) => {
        const [answer] = await Promise.all([
          this.#options.store.lease(ref, call),
          this.#makeDurable(grant.keyId),
        ])
        return answer
      },
      recall: () => reportRecall(grant.keyId),
      onFailure: (error) => logger.warn({ err: error, key_id: grant.keyId }, 'Credit unit lease failed'),
      overdraft: this.#overdraft,
      now: () => performance.now(),
    })
    this.#accounts.set(month, accounts.set(grant.keyId, account))
    return account
  }

  /**
   * Before more is leased, what was spent is written down: should Redis lose everything, what is not on record then is
   * what was spent since the last lease, so at most one lease. It is not worth keeping a client waiting for long.
   */
  async #makeDurable(keyId: string): Promise<void> {
    const { ledger, logger } = this.#options
    const written = ledger.flush(keyId).catch((error: unknown) => {
      logger.warn({ err: error, key_id: keyId }, 'Usage write failed; retrying')
    })
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, DURABLE_MS)
    await Promise.race([written, late.promise])
    clearTimeout(timer)
  }
}

const FREE: Reservation = { charge: () => undefined, release: () => undefined }
