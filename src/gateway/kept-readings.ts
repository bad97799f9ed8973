import { RecentlyUsed } from '../domain/recently-used.ts'

export type KeptReadingsOptions = {
  /** How old a reading may be when it is given, counted from when it began. */
  readonly keptMs: number
  readonly maxReadings: number
  /** Milliseconds. */
  readonly now: () => number
}

type Kept<T> = {
  readonly at: number
  readonly value: Promise<T>
  /** The reading that takes its place once it is there. */
  next: Promise<T> | undefined
}

/**
 * What was read from a store lately, by name. In the second half of its life it is still given, and read anew
 * meanwhile: nobody waits for what is asked for again and again, and nothing is read that nobody asks for.
 */
export class KeptReadings<T> {
  readonly #options: KeptReadingsOptions
  readonly #kept: RecentlyUsed<Kept<T>>

  constructor(options: KeptReadingsOptions) {
    this.#options = options
    this.#kept = new RecentlyUsed(options.maxReadings)
  }

  get(name: string, read: () => Promise<T>): Promise<T> {
    const { keptMs, now } = this.#options
    const last = this.#kept.get(name)
    if (last === undefined) return this.#readFirst(name, read)
    const age = now() - last.at
    if (age < keptMs / 2) return last.value
    const next = last.next ?? this.#readNext(name, last, read)
    return age < keptMs ? last.value : next
  }

  #readFirst(name: string, read: () => Promise<T>): Promise<T> {
    const first = this.#begin(read)
    this.#keep(name, first)
    // What failed is read again for the next one.
    first.value.catch(() => this.#kept.delete(name))
    return first.value
  }

  #readNext(name: string, last: Kept<T>, read: () => Promise<T>): Promise<T> {
    const next = this.#begin(read)
    last.next = next.value
    next.value.then(
      () => this.#keep(name, next),
      // Ignored while the last value is fresh enough; after that, requests wait for the next read and get its error.
      () => {
        last.next = undefined
      },
    )
    return next.value
  }

  #begin(read: () => Promise<T>): Kept<T> {
    return { at: this.#options.now(), value: read(), next: undefined }
  }

  #keep(name: string, kept: Kept<T>): void {
    this.#kept.set(name, kept)
    this.#kept.letGo()
  }
}
