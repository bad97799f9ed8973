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
 * Tokens whose older transfers are not in the log yet, in no particular order: see `HistoryOrder`. Like the whole index
 * it is a fold of the log, so a restart loses nothing, and undone facts are read again.
 */
export class OpenHistories {
  readonly #queue: JournaledQueue<OpenHistory>
  /** All tokens seen: LP tokens may be seen again as a token, and must not be read twice. */
  readonly #met: Table<boolean>
  /** Where each address is in the queue; undefined until it is needed. */
  #places: Map<string, number> | undefined

  constructor(state: JournaledState) {
    this.#met = state.table('holders', { write: (w) => w.bool(true), read: (r) => r.bool() })
    this.#queue = new JournaledQueue(state, 'history', historyCodec)
  }

  get length(): number {
    return this.#queue.length
  }

  get(address: string): OpenHistory | undefined {
    const place = this.#placeOf(address)
    return place === undefined ? undefined : this.#queue.at(place)
  }

  /** Places are taken from `first` up to `next`; new histories get the last ones. */
  get places(): { readonly first: number; readonly next: number } {
    return this.#queue.bounds
  }

  at(place: number): OpenHistory | undefined {
    return this.#queue.at(place)
  }

  /** The blocks were undone, or not committed. */
  reload(): void {
    this.#places = undefined
  }

  /** Applies a block's facts. */
  apply(fact: Fact, block: number): void {
    if (fact.type === 'transfers') this.#continue(fact)
    else if (hasHolders(fact) && this.#met.get(fact.address) === undefined) {
      this.#met.put(fact.address, true)
      const upTo = Math.max(0, block - 1)
      if (isOlder(fact)) this.#open({ address: fact.address, from: FIRST_BLOCK, upTo, isBegun: false })
    }
  }

  #open(history: OpenHistory): void {
    this.#places?.set(history.address, this.#queue.bounds.next)
    this.#queue.append(history)
  }

  #continue({ address, upTo, isLast, first: begun }: TransfersFact): void {
    const place = this.#placeOf(address)
    const open = place === undefined ? undefined : this.#queue.at(place)
    // A range that is covered already would count twice.
    if (place === undefined || open === undefined || upTo < open.from - 1) return
    if (isLast) this.#close(place, address)
    else this.#queue.replace(place, { ...open, from: upTo + 1, isBegun: open.isBegun || begun !== undefined })
  }

  #close(place: number, address: string): void {
    const moved = this.#queue.removeAt(place)
    this.#places?.delete(address)
    if (moved !== undefined) this.#places?.set(moved.address, place)
  }

  #placeOf(address: string): number | undefined {
    this.#places ??= this.#findPlaces()
    return this.#places.get(address)
  }

  #findPlaces(): Map<string, number> {
    const places = new Map<string, number>()
    const { first, next } = this.#queue.bounds
    for (let place = first; place < next; place++) {
      const open = this.#queue.at(place)
      if (open !== undefined) places.set(open.address, place)
    }
    return places
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
