/**
 * Gathers items into batches while the batch before is being written. A batch is due when it is large enough,
 * when its first item has waited long enough, or when nothing more will come. `put` waits while a whole
 * batch is waiting, so at most one batch is held. One putter, one taker.
 */
export class BatchQueue<T> {
  readonly #maxSize: number
  readonly #maxWaitMs: number
  #items: T[] = []
  #size = 0
  #firstAt = 0
  #ended = false
  #wakeTaker: () => void = () => undefined
  #wakePutter: () => void = () => undefined

  constructor(limits: { readonly maxSize: number; readonly maxWaitMs: number }) {
    this.#maxSize = limits.maxSize
    this.#maxWaitMs = limits.maxWaitMs
  }

  async put(item: T, size: number): Promise<void> {
    while (this.#size >= this.#maxSize && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wakePutter = resolve
      })
    }
    if (this.#items.length === 0) this.#firstAt = performance.now()
    this.#items.push(item)
    this.#size += size
    this.#wakeTaker()
  }

  /** The next batch; an empty one after the end. */
  async take(): Promise<T[]> {
    while (this.#size < this.#maxSize && !this.#ended) {
      const leftMs =
        this.#items.length === 0 ? undefined : this.#firstAt + this.#maxWaitMs - performance.now()
      if (leftMs !== undefined && leftMs <= 0) break
      await this.#change(leftMs)
    }
    const batch = this.#items
    this.#items = []
    this.#size = 0
    this.#wakePutter()
    return batch
  }

  /** Nothing more will come, or nothing more is wanted. */
  end(): void {
    this.#ended = true
    this.#wakeTaker()
    this.#wakePutter()
  }

  #change(waitMs: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = waitMs === undefined ? undefined : setTimeout(resolve, waitMs)
      this.#wakeTaker = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
