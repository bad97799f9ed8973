import type { Random } from '../../fuzz/random.ts'

/** What may befall an engine; it stops for good at a kill, and goes on by itself after the rest. */
export type Mishap =
  /** Killed before what it was about to do came about, or right after it did. */
  | 'killedBefore'
  | 'killedAfter'
  /** The store refuses a commit: nothing of it is written. */
  | 'refusedCommit'
  /** A message that does not belong here reaches the fold. */
  | 'strayMessage'

/** The places at which something may happen: the two writes, and in between. */
export type Place = 'publish' | 'commit' | 'fold'

const POSSIBLE: Readonly<Record<Place, readonly Mishap[]>> = {
  publish: ['killedBefore', 'killedAfter'],
  commit: ['killedBefore', 'killedAfter', 'refusedCommit'],
  fold: ['killedBefore', 'strayMessage'],
}

/** When something goes wrong, and how much is done between two commits: by the seed. */
export class Trouble {
  readonly batch: number
  /** Whether another engine publishes as well. */
  readonly hasRival: boolean
  /** Whether a tail that CHANGES has lost can be restored; otherwise all is folded again. */
  readonly hasOutbox: boolean
  readonly #random: Random
  readonly #rate: number
  #left: number

  constructor(random: Random) {
    this.#random = random
    // One message at a time is what the role does; more must do as well.
    this.batch = random.pick([1, 1, 1, 2, 3, 8, 1_000])
    this.hasRival = random.chance(0.3)
    this.hasOutbox = random.chance(0.5)
    this.#rate = random.pick([0.02, 0.1, 0.3])
    this.#left = random.between(1, 15)
  }

  /** What happens next, of all that may. */
  pick<T>(items: readonly T[]): T {
    return this.#random.pick(items)
  }

  /** How many of its last messages CHANGES loses while the engine is dead. */
  lostTail(): number {
    return this.#random.chance(0.4) ? this.#random.between(1, this.#random.pick([2, 10, 1_000])) : 0
  }

  /** Now and then BLOCKS ends earlier for a while, until its reader has restored it. */
  blocksEnd(length: number): number {
    return this.#random.chance(0.05) ? this.#random.below(length + 1) : length
  }

  at(place: Place): Mishap | undefined {
    // Less often where there are more places than writes.
    const rate = place === 'fold' ? this.#rate / 4 : this.#rate
    if (this.#left === 0 || !this.#random.chance(rate)) return undefined
    this.#left -= 1
    return this.#random.pick(POSSIBLE[place])
  }
}
