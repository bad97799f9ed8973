import type { Gap } from '../errors.ts'

/** An item as an iterator returns it, with the cursor after it; or a gap in its place. */
export type Entry<T> = {
  readonly done: false
  readonly value: T
  readonly cursor: string | undefined
  /** The subscription that it came from. */
  readonly feed: number
  readonly gap: Gap | undefined
}

export type Buffer<T> = {
  readonly size: number
  /** Entries that were dropped because the consumer was too slow. */
  readonly dropped: number
  push(entry: Entry<T>): void
  shift(): Entry<T> | undefined
}

/** Events in order. It never drops one: the stream pauses its subscription at the capacity. */
export class EventBuffer<T> implements Buffer<T> {
  readonly dropped = 0
  #entries: Entry<T>[] = []
  #at = 0

  get size(): number {
    return this.#entries.length - this.#at
  }

  push(entry: Entry<T>): void {
    this.#entries.push(entry)
  }

  shift(): Entry<T> | undefined {
    if (this.#at === this.#entries.length) return undefined
    const entry = this.#entries[this.#at++]
    if (this.#at === this.#entries.length) {
      this.#entries = []
      this.#at = 0
    } else if (this.#at >= 1_024 && this.#at * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#at)
      this.#at = 0
    }
    return entry
  }
}

/** States: of each key only the latest one waits. Above its capacity, the key that was updated longest ago is dropped. */
export class StateBuffer<T> implements Buffer<T> {
  readonly #keyOf: (value: T) => string
  readonly #capacity: number
  readonly #entries = new Map<string, Entry<T>>()
  #dropped = 0
  #gaps = 0

  constructor(keyOf: (value: T) => string, capacity: number) {
    this.#keyOf = keyOf
    this.#capacity = capacity
  }

  get size(): number {
    return this.#entries.size
  }

  get dropped(): number {
    return this.#dropped
  }

  push(entry: Entry<T>): void {
    const key = entry.gap === undefined ? this.#keyOf(entry.value) : `gap ${this.#gaps++}`
    // At the end, so that a consumer has everything up to some moment.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#entries.size > this.#capacity) this.#dropOldest()
  }

  shift(): Entry<T> | undefined {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key)
      return entry
    }
    return undefined
  }

  /** Gaps stay, or nobody would learn of them. */
  #dropOldest(): void {
    for (const [key, { gap }] of this.#entries) {
      if (gap !== undefined) continue
      this.#entries.delete(key)
      this.#dropped++
      return
    }
  }
}
