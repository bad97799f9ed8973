import type { Fact, PoolFact, TokenFact, TransfersFact } from '../domain/envelope.ts'
import { ZERO_ADDRESS } from '../domain/known-addresses.ts'
import { JournaledQueue } from '../state/journaled-queue.ts'
import type { JournaledState, Table } from '../state/journaled-state.ts'
import { bool, id, record, varuint } from '../wire/codec.ts'

/** Unread transfers of a token, or of a pool's LP tokens: all from `from` up to `upTo`. */
export type OpenHistory = {
  readonly address: string
  readonly from: number
  readonly upTo: number
  /** Its very first transfer is published. */
  readonly isBegun: boolean
}

/** The genesis block has no transactions, on any chain. */
export const FIRST_BLOCK = 1

const historyCodec = record<OpenHistory>({ address: id, from: varuint, upTo: varuint, isBegun: bool })

/**
 * Tokens whose older transfers are not in the log yet. Round-robin: each gets some blocks at a time and then returns to
 * the end, so that a long history does not delay the others. Like the whole index it is a fold of the log: the queue
 * survives a restart, and undone facts are read again.
 */
export class HistoryQueue {
  readonly #queue: JournaledQueue<OpenHistory>
  /** All tokens seen: LP tokens may be seen again as a token, and must not be read twice. */
  readonly #met: Table<boolean>

  constructor(state: JournaledState) {
    this.#met = state.table('holders', { write: (w) => w.bool(true), read: (r) => r.bool() })
    this.#queue = new JournaledQueue(state, 'history', historyCodec)
  }

  get length(): number {
    return this.#queue.length
  }

  /** The first entries, in order. */
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

/** A token may be as old as the chain; LP tokens of an empty pool are not minted yet. */
function isOlder(fact: TokenFact | PoolFact): boolean {
  return fact.type === 'token' || (fact.reservesBefore?.some((reserve) => reserve !== 0n) ?? true)
}
