import { type Key, type KeyPart, maxKeyWords } from './key.ts'
import { halfSipHash } from './sip-hash.ts'

/** In place of a slot: there is none. */
export const NONE = -1

export type HashKey = (key: Key) => number

/** Two random 32-bit numbers. */
export type HashSecret = readonly [number, number]

const FEWEST_BUCKETS = 64

/** A hash table with chaining from keys to slots. The arrays grow with the capacity of the table. */
export class SlotIndex {
  readonly #hash: HashKey
  /** Size of a key, then its words. */
  readonly #stride: number
  #keys = new Uint32Array(0)
  #hashes = new Uint32Array(0)
  #next = new Int32Array(0)
  #buckets = new Int32Array(FEWEST_BUCKETS).fill(NONE)
  size = 0

  constructor(parts: readonly KeyPart[], hash: HashKey) {
    this.#stride = 1 + maxKeyWords(parts)
    this.#hash = hash
  }

  find(key: Key): number {
    const hash = this.#hash(key)
    let slot = this.#buckets[hash & (this.#buckets.length - 1)] as number
    while (slot !== NONE && !(this.#hashes[slot] === hash && this.isAt(slot, key)))
      slot = this.#next[slot] as number
    return slot
  }

  insert(slot: number, key: Key): void {
    if (this.size >= this.#buckets.length) this.#rehash(this.#buckets.length * 2)
    this.#hashes[slot] = this.#hash(key)
    const at = slot * this.#stride
    this.#keys[at] = key.length
    for (let k = 0; k < key.length; k++) this.#keys[at + 1 + k] = key.words[k] as number
    this.#link(slot)
    this.size++
  }

  remove(slot: number): void {
    const bucket = (this.#hashes[slot] as number) & (this.#buckets.length - 1)
    const after = this.#next[slot] as number
    let before = this.#buckets[bucket] as number
    if (before === slot) this.#buckets[bucket] = after
    else {
      while (this.#next[before] !== slot) before = this.#next[before] as number
      this.#next[before] = after
    }
    this.size--
  }

  isAt(slot: number, key: Key): boolean {
    const keys = this.#keys
    const at = slot * this.#stride
    if (keys[at] !== key.length) return false
    // From the end, where two keys of one token differ soonest.
    for (let k = key.length; k > 0; k--) if (keys[at + k] !== key.words[k - 1]) return false
    return true
  }

  read(slot: number, key: Key): Key {
    const at = slot * this.#stride
    key.length = this.#keys[at] as number
    for (let k = 0; k < key.length; k++) key.words[k] = this.#keys[at + 1 + k] as number
    return key
  }

  setCapacity(slots: number): void {
    this.#keys = enlarged(this.#keys, new Uint32Array(slots * this.#stride))
    this.#hashes = enlarged(this.#hashes, new Uint32Array(slots))
    this.#next = enlarged(this.#next, new Int32Array(slots))
  }

  clear(): void {
    this.#buckets.fill(NONE)
    this.size = 0
  }

  #link(slot: number): void {
    const bucket = (this.#hashes[slot] as number) & (this.#buckets.length - 1)
    this.#next[slot] = this.#buckets[bucket] as number
    this.#buckets[bucket] = slot
  }

  #rehash(buckets: number): void {
    const old = this.#buckets
    this.#buckets = new Int32Array(buckets).fill(NONE)
    for (let bucket = 0; bucket < old.length; bucket++) {
      for (let slot = old[bucket] as number; slot !== NONE; ) {
        const after = this.#next[slot] as number
        this.#link(slot)
        slot = after
      }
    }
  }
}

export function enlarged<T extends Uint8Array | Uint32Array | Int32Array>(old: T, larger: T): T {
  larger.set(old)
  return larger
}

export function secretHash([key0, key1]: HashSecret): HashKey {
  return (key) => halfSipHash(key.words, key.length, key0, key1)
}
