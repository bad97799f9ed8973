import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainHead } from '../../domain/chain-head.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { FoldedChain } from '../../domain/generation.ts'
import { PoisonedMessage } from '../../domain/quarantine.ts'
import { type LatestChanges, latestChanges } from '../../store/latest-changes.ts'
import type { StoreName } from '../../store/store-names.ts'
import { BatchQueue } from './batch-queue.ts'
import { type IndexedMessage, placeOf, sizeOf } from './log-reader.ts'
import type { WriterMetrics } from './metrics.ts'
import type { SharedLog } from './shared-log.ts'

/** A store with a commit point of its own. Every write of it may be repeated. */
export type WrittenStore<Contents> = {
  readonly name: StoreName
  /** The commit point, which the store may have to be brought to first; `before` is where it stood when it was left. */
  open(before: ChainHead | undefined): Promise<ChainHead | undefined>
  /** What a batch makes of it. */
  contentsOf(latest: LatestChanges): Contents
  /** The contents, then the commit point. */
  write(contents: Contents, head: ChainHead): Promise<void>
  /** Called while there is nothing to write. */
  look?(): Promise<void>
  /** The log does not reach back to the commit point: brings the store further by other means, or throws what it is given. */
  refill?(truncated: ChaintapeError): Promise<void>
}

/** The store has lost what it held: it is opened anew. */
export class StoreLost extends Error {}

export type StoreWriterParts = {
  readonly folded: FoldedChain
  /** Names this generation in metrics; it changes when the generation is served. */
  readonly label: () => string
  readonly log: SharedLog
  readonly limits: { readonly max_batch_rows: number; readonly max_batch_ms: number }
  readonly metrics: WriterMetrics
  readonly signal: AbortSignal
  /** Settles once the store can be asked at all. */
  readonly ready: Promise<unknown>
  /** Runs `work` until the store answers. */
  readonly insist: <T>(work: () => Promise<T>) => Promise<T>
  /** Called whenever the store has come further. */
  readonly onWritten: () => void
}

/** While nothing happens on a chain, a store that may lose its data is looked at so often. */
const LOOK_EVERY_MS = 1_000

type Batch<Contents> = { readonly items: readonly IndexedMessage[]; readonly contents: () => Contents }

/**
 * Carries one chain's CHANGES into one store, from its own commit point on. That is written last, so that a crash anywhere
 * before it repeats the batch.
 */
export class StoreWriter<Contents> {
  readonly #store: WrittenStore<Contents>
  readonly #parts: StoreWriterParts
  #written: ChainHead | undefined
  #isOpen = false
  #lastSeq = -1

  constructor(store: WrittenStore<Contents>, parts: StoreWriterParts) {
    this.#store = store
    this.#parts = parts
  }

  /** Where in CHANGES the commit point stands; undefined until it is known. */
  get position(): number | undefined {
    return this.#isOpen ? (this.#written?.position.sequence ?? 0) : undefined
  }

  /** Until the signal aborts: then the batch at hand is finished first. */
  async run(): Promise<void> {
    const { ready, signal } = this.#parts
    await Promise.race([ready, once(signal, 'abort')])
    while (!signal.aborted) {
      await this.#open()
      try {
        await this.#follow()
      } catch (error) {
        if (isTruncation(error)) await this.#refill(error)
        else if (!(error instanceof StoreLost)) throw error
      }
    }
  }

  async #refill(truncated: ChaintapeError): Promise<void> {
    if (this.#store.refill === undefined) throw truncated
    await this.#parts.insist(async () => this.#store.refill?.(truncated))
  }

  async #open(): Promise<void> {
    const { label, insist, metrics, onWritten } = this.#parts
    this.#written = await insist(() => this.#store.open(this.#written))
    this.#isOpen = true
    this.#lastSeq = this.#written?.seq ?? -1
    if (this.#written !== undefined) metrics.advance(label, this.#store.name, this.#written)
    onWritten()
  }

  async #follow(): Promise<void> {
    const { limits } = this.#parts
    const queue = new BatchQueue<IndexedMessage>({
      maxSize: limits.max_batch_rows,
      maxWaitMs: limits.max_batch_ms,
    })
    const ended = new AbortController()
    const signal = AbortSignal.any([this.#parts.signal, ended.signal])
    const outcomes = await Promise.allSettled([
      this.#read(queue, signal).finally(() => queue.end()),
      this.#drain(queue).finally(() => {
        ended.abort()
        queue.end()
      }),
    ])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async #read(queue: BatchQueue<IndexedMessage>, signal: AbortSignal): Promise<void> {
    for await (const message of this.#parts.log.read({ after: this.#written?.position, signal })) {
      const { set } = message
      if (set.seq <= this.#lastSeq) {
        throw new ChaintapeError('diverged', `CHANGES goes back from version ${this.#lastSeq} to ${set.seq}`)
      }
      this.#lastSeq = set.seq
      await queue.put(message, sizeOf(set))
    }
  }

  async #drain(queue: BatchQueue<IndexedMessage>): Promise<void> {
    const { signal } = this.#parts
    let next = this.#takeBatch(queue)
    while (!signal.aborted) {
      const batch = await this.#lookUntil(next)
      if (batch === undefined) return
      // Made ready while the store is busy with this one.
      next = this.#takeBatch(queue)
      // If this one fails, nobody asks for the next any more.
      next.catch(() => undefined)
      try {
        await this.#write(batch)
      } catch (error) {
        if (signal.aborted || !isOfMessage(error)) throw error
        await this.#writeOneByOne(batch.items)
      }
    }
  }

  async #write({ items, contents }: Batch<Contents>): Promise<void> {
    const { label, insist, metrics, onWritten } = this.#parts
    const { name: store } = this.#store
    const head = headAt(items.at(-1) as IndexedMessage)
    const startedAt = performance.now()
    await insist(() => this.#store.write(contents(), head))
    this.#written = head
    metrics.advance(label, store, head)
    const labels = { chain: label(), store }
    metrics.batches.inc(labels)
    metrics.batchSeconds.observe(labels, (performance.now() - startedAt) / 1_000)
    onWritten()
  }

  /** One of these messages cannot be written: those before it are, and it is named. */
  async #writeOneByOne(items: readonly IndexedMessage[]): Promise<void> {
    for (const item of items) {
      try {
        await this.#write({ items: [item], contents: () => this.#contentsOf([item]) })
      } catch (error) {
        if (!isOfMessage(error)) throw error
        throw new PoisonedMessage(placeOf(this.#parts.folded, item.position.sequence), error)
      }
    }
  }

  /** Looks after the store for as long as there is nothing to write. */
  async #lookUntil(next: Promise<Batch<Contents> | undefined>): Promise<Batch<Contents> | undefined> {
    const { insist, signal } = this.#parts
    const came = new AbortController()
    const pause = (): Promise<void> =>
      sleep(LOOK_EVERY_MS, undefined, { signal: came.signal }).catch(() => undefined)
    const coming = next.finally(() => came.abort())
    // The race below reports a failure; without this handler it would count as unhandled.
    coming.catch(() => undefined)
    for (;;) {
      await Promise.race([coming, pause()])
      if (came.signal.aborted || signal.aborted) return coming
      await insist(async () => this.#store.look?.())
    }
  }

  async #takeBatch(queue: BatchQueue<IndexedMessage>): Promise<Batch<Contents> | undefined> {
    const items = await queue.take()
    if (items.length === 0) return undefined
    try {
      const contents = this.#contentsOf(items)
      return { items, contents: () => contents }
    } catch {
      // It fails again when it is written, where the message at fault is looked for.
      return { items, contents: () => this.#contentsOf(items) }
    }
  }

  #contentsOf(items: readonly IndexedMessage[]): Contents {
    return this.#store.contentsOf(latestChanges(items.map(({ set }) => set)))
  }
}

/** Neither a store that is away nor a log or store that is not what it was: then the contents cannot be written. */
function isOfMessage(error: unknown): boolean {
  return !(error instanceof ChaintapeError || error instanceof StoreLost)
}

function isTruncation(error: unknown): error is ChaintapeError {
  return error instanceof ChaintapeError && error.code === 'log_truncated'
}

function headAt({ set, position }: IndexedMessage): ChainHead {
  return { chain: set.chain, seq: set.seq, ...set.head, finalNumber: set.finalNumber, position }
}
