import { halfSipHash } from '../../state/sip-hash.ts'
import type { HashSecret } from '../../state/slot-index.ts'

/** The minutes in which a wallet last bought and sold a subject, or `NEVER`. */
export type LastVisit = { readonly boughtAt: number; readonly soldAt: number }

/** Stands for no visit. No trade is from the first minute of 1970. */
export const NEVER = 0
export const NO_VISIT: LastVisit = { boughtAt: NEVER, soldAt: NEVER }

/** Words per entry. The first one is 0 in a free place. */
const SUBJECT_AND_ONE = 0
const WALLET = 1
const BOUGHT_AT = 2
const SOLD_AT = 3
const STRIDE = 4

const FEWEST_ENTRIES = 64
/** Maximum load: this many of four places. */
const MAX_TAKEN = 3

/**
 * Last visits by subject and wallet: an open-addressing hash table with linear probing. A day has millions of entries
 * in random order, and a lookup costs about one cache miss.
 */
export class LastVisits {
  readonly #secret: HashSecret
  readonly #key = new Uint32Array(2)
  #words = new Uint32Array(FEWEST_ENTRIES * STRIDE)
  size = 0

  constructor(secret: HashSecret) {
    this.#secret = secret
  }

  get(subject: number, wallet: number): LastVisit | undefined {
    const at = this.#find(subject, wallet)
    if (this.#isFree(at)) return undefined
    const words = this.#words
    return { boughtAt: words[at + BOUGHT_AT] as number, soldAt: words[at + SOLD_AT] as number }
  }

  /** Returns whether it is new. */
  set(subject: number, wallet: number, { boughtAt, soldAt }: LastVisit): boolean {
    const at = this.#find(subject, wallet)
    const isNew = this.#isFree(at)
    const words = this.#words
    words[at + SUBJECT_AND_ONE] = subject + 1
    words[at + WALLET] = wallet
    words[at + BOUGHT_AT] = boughtAt
    words[at + SOLD_AT] = soldAt
    if (isNew && ++this.size * STRIDE * 4 > words.length * MAX_TAKEN) this.#grow()
    return isNew
  }

  /** Returns whether it existed. Moves later entries up, because a lookup ends at the first free place. */
  delete(subject: number, wallet: number): boolean {
    let gap = this.#find(subject, wallet)
    if (this.#isFree(gap)) return false
    const words = this.#words
    for (let at = this.#next(gap); !this.#isFree(at); at = this.#next(at)) {
      const home = this.#home((words[at + SUBJECT_AND_ONE] as number) - 1, words[at + WALLET] as number)
      // An entry stays if its own place lies between the gap and its current place.
      if (this.#distance(home, at) < this.#distance(gap, at)) continue
      words.copyWithin(gap, at, at + STRIDE)
      gap = at
    }
    words.fill(0, gap, gap + STRIDE)
    this.size--
    return true
  }

  clear(): void {
    this.#words = new Uint32Array(FEWEST_ENTRIES * STRIDE)
    this.size = 0
  }

  /** The place of the entry, or the free place where it would go. */
  #find(subject: number, wallet: number): number {
    const words = this.#words
    let at = this.#home(subject, wallet)
    while (!this.#isFree(at) && !(words[at] === subject + 1 && words[at + WALLET] === wallet))
      at = this.#next(at)
    return at
  }

  #isFree(at: number): boolean {
    return this.#words[at + SUBJECT_AND_ONE] === 0
  }

  #home(subject: number, wallet: number): number {
    const key = this.#key
    key[0] = subject
    key[1] = wallet
    const hash = halfSipHash(key, 2, this.#secret[0], this.#secret[1])
    return (hash * STRIDE) & (this.#words.length - 1)
  }

  #next(at: number): number {
    return (at + STRIDE) & (this.#words.length - 1)
  }

  #distance(from: number, to: number): number {
    return (to - from) & (this.#words.length - 1)
  }

  #grow(): void {
    const old = this.#words
    this.#words = new Uint32Array(old.length * 2)
    for (let at = 0; at < old.length; at += STRIDE) {
      if (old[at] === 0) continue
      const to = this.#find((old[at] as number) - 1, old[at + WALLET] as number)
      for (let k = 0; k < STRIDE; k++) this.#words[to + k] = old[at + k] as number
    }
  }
}
