import { RecentlyUsed } from '../../domain/recently-used.ts'

export type StaleWhileRevalidateOptions = {
  /** A value is returned without a new read until it is this old. Age counts from the start of its read. */
  readonly freshMs: number
  /** A value is returned while a new read runs until it is this old. */
  readonly staleMs: number
  readonly maxEntries: number
  /** Milliseconds. */
  readonly now: () => number
  /** Called when a read in the background fails; the cached value is still returned until it is too old. */
  readonly onFailure?: (name: string, error: unknown) => void
}

type Entry<T> = {
  readonly at: number
  readonly value: Promise<T>
  /** The read that replaces it. */
  next: Promise<T> | undefined
}

/**
 * A stale-while-revalidate cache. Callers share one read per name, values in demand are refreshed before they expire, and
 * nothing is read that nobody asks for.
 */
export class StaleWhileRevalidateCache<T> {
  readonly #options: StaleWhileRevalidateOptions
  readonly #entries: RecentlyUsed<Entry<T>>

  constructor(options: StaleWhileRevalidateOptions) {
    this.#options = options
    this.#entries = new RecentlyUsed(options.maxEntries)
  }

  get(name: string, read: () => Promise<T>): Promise<T> {
    const { freshMs, staleMs, now } = this.#options
    const entry = this.#entries.get(name)
    if (entry === undefined) return this.#readFirst(name, read)
    const age = now() - entry.at
    if (age < freshMs) return entry.value
    const next = entry.next ?? this.#revalidate(name, entry, read)
    return age < staleMs ? entry.value : next
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }

  #readFirst(name: string, read: () => Promise<T>): Promise<T> {
    const first = this.#begin(read)
    this.#set(name, first)
    // A failure is not cached.
    first.value.catch(() => this.#entries.delete(name))
    return first.value
  }

  #revalidate(name: string, entry: Entry<T>, read: () => Promise<T>): Promise<T> {
    const next = this.#begin(read)
    entry.next = next.value
    next.value.then(
      () => this.#set(name, next),
      (error: unknown) => {
        entry.next = undefined
        this.#options.onFailure?.(name, error)
      },
    )
    return next.value
  }

  #begin(read: () => Promise<T>): Entry<T> {
    return { at: this.#options.now(), value: read(), next: undefined }
  }

  #set(name: string, entry: Entry<T>): void {
    this.#entries.set(name, entry)
    this.#entries.evict()
  }
}
