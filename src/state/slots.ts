import { enlarged } from './slot-index.ts'

export const EXISTS = 1
export const DIRTY = 2
/** Used since the clock's hand last passed. */
export const USED = 4
/** The committed store has a row under the key. */
export const STORED = 8
/** Set alone: the slot has no key. */
const FREE = 16

/** The slots of a table, each with its flags. */
export class Slots {
  #flags = new Uint8Array(0)
  #free: number[] = []
  /** Slots below are in use or free. */
  #end = 0
  #hand = 0

  has(slot: number, flag: number): boolean {
    return ((this.#flags[slot] as number) & flag) !== 0
  }

  /** Also false for a slot that was never allocated. */
  exists(slot: number): boolean {
    return slot < this.#end && this.has(slot, EXISTS)
  }

  add(slot: number, flags: number): void {
    this.#flags[slot] = (this.#flags[slot] as number) | flags
  }

  drop(slot: number, flags: number): void {
    this.#flags[slot] = (this.#flags[slot] as number) & ~flags
  }

  get isFull(): boolean {
    return this.#free.length === 0 && this.#end === this.#flags.length
  }

  /** Returns a slot without flags. */
  allocate(): number {
    const slot = this.#free.pop() ?? this.#end++
    this.#flags[slot] = 0
    return slot
  }

  get capacity(): number {
    return this.#flags.length
  }

  setCapacity(slots: number): void {
    this.#flags = enlarged(this.#flags, new Uint8Array(slots))
  }

  /** Second-chance clock. No row may be dirty; then two rounds find enough rows. */
  evict(count: number, remove: (slot: number) => void): void {
    for (let left = count; left > 0; ) {
      const slot = this.#hand
      this.#hand = slot + 1 === this.#end ? 0 : slot + 1
      const flags = this.#flags[slot] as number
      if (flags === FREE) continue
      if ((flags & USED) !== 0) this.drop(slot, USED)
      else {
        remove(slot)
        this.#flags[slot] = FREE
        this.#free.push(slot)
        left--
      }
    }
  }

  clear(): void {
    this.#free = []
    this.#end = 0
    this.#hand = 0
  }
}
