type Batch<T> = { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, T>> }

/**
 * Batches reads: ids requested while a query runs go into the next one. However many requests wait, a fallback store
 * then runs one query of each kind at a time.
 */
export class Gathering<T> {
  readonly #maxIds: number
  readonly #read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>
  /** Settles when no query is running. */
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
      // Later requests go into the next batch.
      if (this.#next?.ids === ids) this.#next = undefined
      return this.#read([...ids])
    })
    this.#last = found.catch(() => undefined)
    this.#next = { ids, found }
    return this.#next
  }
}
