import type { Fact, PoolFact, TokenFact, TransfersFact } from '../domain/envelope.ts'
import { ZERO_ADDRESS } from '../domain/known-addresses.ts'
import { JournaledQueue } from '../state/journaled-queue.ts'
import type { JournaledState, Table } from '../state/journaled-state.ts'
import { bool, id, record, varuint } from '../wire/codec.ts'

/** Transfers of a token, or of a pool's shares, that are still to be read: all from `from` up to `upTo`. */
export type OpenHistory = {
  readonly address: string
  readonly from: number
  readonly upTo: number
  /** Its very first transfer is published. */
  readonly isBegun: boolean
}

/** The very first one has no transactions, on any chain. */
export const FIRST_BLOCK = 1

const historyCodec = record<OpenHistory>({ address: id, from: varuint, upTo: varuint, isBegun: bool })

/**
 * Whose older transfers the log does not hold yet. Each gets its turn, some blocks at a time, and then stands at the
 * end again: one with a long history does not keep the others waiting. Like all of the index it is a fold of the
 * log, so what is left to read survives a restart, and what a fork undid is read again.
 */
export class HistoryQueue {
  readonly #queue: JournaledQueue<OpenHistory>
  /** All that were met: the shares of a pool may be met again as a token, and are not to be read twice. */
  readonly #met: Table<boolean>

  constructor(state: JournaledState) {
    this.#met = state.table('holders', { write: (w) => w.bool(true), read: (r) => r.bool() })
    this.#queue = new JournaledQueue(state, 'history', historyCodec)
  }

  get length(): number {
    return this.#queue.length
  }

  /** The first ones, in their order. */
  first(count: number): OpenHistory[] {
    return this.#queue.first(count)
  }

  /** Applies a block's facts to the queue. */
  apply(fact: Fact, block: number): void {
    if (fact.type === 'transfers') this.#turn(fact)
    else if (hasHolders(fact) && this.#met.get(fact.address) === undefined) {
      this.#met.put(fact.address, true)
      const upTo = Math.max(0, block - 1)
      if (isOlder(fact))
        this.#queue.append({ address: fact.address, from: FIRST_BLOCK, upTo, isBegun: false })
    }
  }

  #turn({ address, upTo, isLast, first: begun }: TransfersFact): void {
    const [open] = this.#queue.first(1)
    if (open?.address !== address) return
    this.#queue.removeFirst()
    if (!isLast) this.#queue.append({ ...open, from: upTo + 1, isBegun: open.isBegun || begun !== undefined })
  }
}

/** Tokens and pools whose holders the engine counts. */
function hasHolders(fact: Fact): fact is TokenFact | PoolFact {
  if (fact.type === 'token') return fact.address !== ZERO_ADDRESS
  return fact.type === 'pool' && fact.pricing.kind === 'reserves'
}

/** A token may be as old as the chain; the shares of a pool that holds nothing yet are still to be made. */
function isOlder(fact: TokenFact | PoolFact): boolean {
  return fact.type === 'token' || (fact.reservesBefore?.some((reserve) => reserve !== 0n) ?? true)
}
