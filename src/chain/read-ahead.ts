import type { ChainSource, FetchedBlock } from './source.ts'

export type ReadAheadParts = {
  readonly source: Pick<ChainSource, 'blockAt' | 'headerAt' | 'transactions'>
  /** Blocks fetched concurrently. */
  readonly width: number
  /** Requests in advance what a block will need in its turn. Must not fail. */
  readonly prepare?: (block: FetchedBlock, head: number) => Promise<void>
  readonly maxBytes?: number
}

type Fetching = Promise<FetchedBlock | undefined>

/** Buffered blocks per concurrent fetch: enough to continue while the log is flushed. */
const WINDOW_PER_WIDTH = 4
/** Limit of all buffered blocks. A single block may be larger. */
const MAX_BYTES = 64 * 1024 * 1024
/** Overhead of a log's objects, beside its data. */
const LOG_BYTES = 512

/**
 * Fetches several blocks concurrently and returns them one by one, in order. It checks nothing: whether a block links
 * up is checked when it is taken, so backfill and head share the same code.
 */
export class ReadAhead {
  readonly #parts: ReadAheadParts
  #blocks = new Map<number, Fetching>()
  /** The next block to fetch, and the last one allowed. */
  #next = 0
  #last = -1
  #head = 0
  #fetching = 0
  /** Memory of fetched blocks that were not taken yet. */
  #bytes = 0
  /** Fetches that began before a `clear` are ignored. */
  #generation = 0
  #hasFailed = false

  constructor(parts: ReadAheadParts) {
    this.#parts = parts
  }

  /** The block at `number`, while the following ones up to `head` are already being fetched. */
  async take(number: number, head: number): Fetching {
    const { width } = this.#parts
    // Blocks are taken in order, unless some were dropped meanwhile.
    if (this.#blocks.keys().next().value !== number) this.clear(number)
    this.#head = head
    this.#last = Math.min(head, number + width * WINDOW_PER_WIDTH - 1)
    this.#fill()
    const generation = this.#generation
    try {
      const block = await this.#blocks.get(number)
      if (generation === this.#generation && block !== undefined) this.#bytes -= sizeOf(block)
      return block
    } catch (error) {
      this.clear()
      throw error
    } finally {
      if (generation === this.#generation) {
        this.#blocks.delete(number)
        this.#fill()
      }
    }
  }

  /** Drops the buffer: after a fork it may hold orphaned blocks. */
  clear(next = this.#next): void {
    this.#generation++
    this.#blocks = new Map()
    this.#next = next
    this.#last = -1
    this.#fetching = 0
    this.#bytes = 0
    this.#hasFailed = false
  }

  #fill(): void {
    const { width, maxBytes = MAX_BYTES } = this.#parts
    while (this.#next <= this.#last && this.#fetching < width && !this.#hasFailed) {
      if (this.#bytes >= maxBytes && this.#blocks.size > 0) return
      const number = this.#next++
      this.#fetching++
      const block = this.#fetch(number, this.#generation)
      // A failure counts when its block is consumed; until then nothing awaits it.
      block.catch(() => undefined)
      this.#blocks.set(number, block)
    }
  }

  async #fetch(number: number, generation: number): Fetching {
    const { prepare } = this.#parts
    const isDropped = (): boolean => generation !== this.#generation
    try {
      const block = await this.#ask(number)
      if (isDropped()) return block
      this.#fetching--
      if (block === undefined) return undefined
      this.#bytes += sizeOf(block)
      this.#fill()
      await prepare?.(block, this.#head)
      return block
    } catch (error) {
      // Later blocks would have to be fetched again anyway.
      if (!isDropped()) this.#hasFailed = true
      throw error
    }
  }

  async #ask(number: number): Fetching {
    const { source } = this.#parts
    if (source.blockAt !== undefined) return source.blockAt(number)
    const header = await source.headerAt(number)
    return header && { header, transactions: await source.transactions(header) }
  }
}

function sizeOf({ transactions }: FetchedBlock): number {
  let bytes = 0
  for (const { logs } of transactions) for (const { data } of logs) bytes += LOG_BYTES + data.length
  return bytes
}
