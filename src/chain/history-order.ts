import { FIRST_BLOCK, type OpenHistories, type OpenHistory } from './open-histories.ts'

/**
 * Why a history gets its turn:
 * - `asked`: clients asked for its holders
 * - `launch`: its contract is young, or may be
 * - `liquid`: most dollars in its pools
 * - `any`: all in turn, whatever they are
 */
export type HistoryClass = 'asked' | 'launch' | 'liquid' | 'any'

export type Turn = { readonly open: OpenHistory; readonly why: HistoryClass }

const CLASSES: readonly HistoryClass[] = ['asked', 'launch', 'liquid', 'any']
/** One turn in so many goes to a lower class first, so that none waits forever. */
const SHARED_TURN = 8
/** A contract that is at most so many blocks older than its discovery is a launch: from 10 hours to a week. */
export const LAUNCH_BLOCKS = 50_000
/** Requests beyond this are dropped; gateways repeat them. */
const MAX_ASKED = 1_000
/** Places examined for one turn of `any`. */
const MAX_EXAMINED = 64

/**
 * Decides which transfer history is read next. It lives in memory: the order affects when a fact enters the log, never
 * what it says, so that readers need not agree on it.
 */
export class HistoryOrder {
  readonly #histories: OpenHistories
  readonly #asked = new Set<string>()
  /** The latest discoveries last. */
  readonly #launches: string[] = []
  /** Discoveries whose contract turned out to be old. */
  readonly #old = new Set<string>()
  /** Histories at places below this are sorted into launches and others. */
  #sorted = 0
  #ranked: readonly string[] = []
  #nextRanked = 0
  #nextPlace = 0
  #turn = 0

  constructor(histories: OpenHistories) {
    this.#histories = histories
  }

  /** A client asked for the holders of this token. */
  ask(address: string): void {
    if (this.#histories.get(address) === undefined) return
    if (this.#asked.size >= MAX_ASKED) this.#dropRead(this.#asked)
    if (this.#asked.size < MAX_ASKED) this.#asked.add(address)
  }

  isAsked(address: string): boolean {
    return this.#asked.has(address)
  }

  /** Addresses with the most liquidity, in order. Each gets one turn before the next ranking, if there is time. */
  rank(addresses: readonly string[]): void {
    this.#ranked = addresses
    this.#nextRanked = 0
    this.#dropRead(this.#old)
  }

  /** The contract is older than `LAUNCH_BLOCKS`, or no node has the state to decide it. */
  isNoLaunch(address: string): void {
    this.#old.add(address)
  }

  /** Blocks were undone: other histories may have the places. */
  forget(): void {
    this.#sorted = 0
    this.#launches.length = 0
  }

  /** The history that should be read now, among those that can. */
  next(canRead: (open: OpenHistory, why: HistoryClass) => boolean): Turn | undefined {
    this.#sort()
    const turn = this.#turn++
    const first = turn % SHARED_TURN === SHARED_TURN - 1 ? 1 + (Math.floor(turn / SHARED_TURN) % 3) : 0
    for (const why of [...CLASSES.slice(first), ...CLASSES.slice(0, first)]) {
      const open = this.#nextOf(why, (each) => canRead(each, why))
      if (open !== undefined) return { open, why }
    }
    return undefined
  }

  /** Whether a history that was asked for could be read now. */
  hasAsked(canRead: (open: OpenHistory, why: HistoryClass) => boolean): boolean {
    return this.#asked.values().some((address) => {
      const open = this.#histories.get(address)
      return open !== undefined && canRead(open, 'asked')
    })
  }

  #nextOf(why: HistoryClass, canRead: (open: OpenHistory) => boolean): OpenHistory | undefined {
    switch (why) {
      case 'asked':
        return this.#nextAsked(canRead)
      case 'launch':
        return this.#nextLaunch(canRead)
      case 'liquid':
        return this.#nextLiquid(canRead)
      case 'any':
        return this.#nextOfAll(canRead)
    }
  }

  /** Round-robin, so that a long history does not delay the others. */
  #nextAsked(canRead: (open: OpenHistory) => boolean): OpenHistory | undefined {
    for (const address of [...this.#asked]) {
      const open = this.#histories.get(address)
      if (open === undefined) this.#asked.delete(address)
      else if (canRead(open)) {
        this.#asked.delete(address)
        this.#asked.add(address)
        return open
      }
    }
    return undefined
  }

  #nextLaunch(canRead: (open: OpenHistory) => boolean): OpenHistory | undefined {
    for (let at = this.#launches.length - 1; at >= 0; at--) {
      const address = this.#launches[at] as string
      const open = this.#histories.get(address)
      if (open === undefined || this.#old.has(address)) this.#launches.splice(at, 1)
      else if (canRead(open)) return open
    }
    return undefined
  }

  #nextLiquid(canRead: (open: OpenHistory) => boolean): OpenHistory | undefined {
    while (this.#nextRanked < this.#ranked.length) {
      const open = this.#histories.get(this.#ranked[this.#nextRanked++] as string)
      if (open !== undefined && canRead(open)) return open
    }
    return undefined
  }

  #nextOfAll(canRead: (open: OpenHistory) => boolean): OpenHistory | undefined {
    const { first, next } = this.#histories.places
    for (let examined = 0; examined < Math.min(MAX_EXAMINED, next - first); examined++) {
      if (this.#nextPlace < first || this.#nextPlace >= next) this.#nextPlace = first
      const open = this.#histories.at(this.#nextPlace++)
      if (open !== undefined && canRead(open)) return open
    }
    return undefined
  }

  #dropRead(addresses: Set<string>): void {
    for (const address of addresses) if (this.#histories.get(address) === undefined) addresses.delete(address)
  }

  /** Looks at new discoveries; after a start, at all that are open. */
  #sort(): void {
    const { first, next } = this.#histories.places
    if (next < this.#sorted) this.forget()
    const met: OpenHistory[] = []
    for (let place = Math.max(first, this.#sorted); place < next; place++) {
      const open = this.#histories.at(place)
      if (open?.from === FIRST_BLOCK) met.push(open)
    }
    this.#sorted = next
    const newest = met.reduce((latest, { upTo }) => Math.max(latest, upTo), 0)
    met.sort((a, b) => a.upTo - b.upTo)
    for (const { address, upTo } of met) if (upTo >= newest - LAUNCH_BLOCKS) this.#launches.push(address)
  }
}
