type Batch<T> = { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, T>> }

/**
 * Asks for many at a time: while a query is under way, whoever asks is put into the next one, and it begins after they have asked. So
 * a store that serves instead of a faster one has one query at a time of each kind, however many wait.
 */
export class Gathering<T> {
  readonly #maxIds: number
  readonly #read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>
  /** Settles when no query is under way. */
  #last: Promise<unknown> = Promise.resolve()
  #next: Batch<T> | undefined

  constructor(maxIds: number, read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#maxIds = maxIds
    this.#read = read
  }

  async get(id: string): Promise<T | undefined> {
    const batch = this.#next === undefined || this.#next.ids.size >= this.#maxIds ? this.#begin() : this.#next
    batch.ids.add(id)
    return (await batch.found).get(id)
  }

  #begin(): Batch<T> {
    const ids = new Set<string>()
    const found = this.#last.then(() => {
      // Who asks from here on is too late for it.
      if (this.#next?.ids === ids) this.#next = undefined
      return this.#read([...ids])
    })
    this.#last = found.catch(() => undefined)
    this.#next = { ids, found }
    return this.#next
  }
}
