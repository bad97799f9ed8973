import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainHead } from '../../domain/chain-head.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { blameMessage, type MessagePlace, PoisonedMessage } from '../../domain/quarantine.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChainLog, LogMessage } from '../../log/chain-log.ts'
import type { HistoryStore } from '../../store/clickhouse/history-store.ts'
import { rowsOf, type TableRows } from '../../store/clickhouse/rows.ts'
import { type LatestChanges, latestChanges } from '../../store/latest-changes.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'
import { type ChangeSetIndex, indexChangeSet } from '../../wire/change-index.ts'
import { BatchQueue } from './batch-queue.ts'
import type { WriterMetrics } from './metrics.ts'

export type ChainWriterParts = {
  readonly chain: string
  readonly log: ChainLog
  readonly history: HistoryStore
  readonly hot: HotStore
  /** Fills Redis from ClickHouse, up to this head. */
  readonly rebuildHot: (head: ChainHead) => Promise<void>
  readonly limits: { readonly max_batch_rows: number; readonly max_batch_ms: number }
  readonly metrics: WriterMetrics
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Runs `work` until the stores answer. */
  readonly insist: <T>(work: () => Promise<T>) => Promise<T>
  /** What keeps the chain from being written; undefined when nothing does. */
  readonly report: (problem: string | undefined) => void
  /** Called when the chain is written up to where CHANGES ended at the start. */
  readonly onCaughtUp: () => void
}

/** While nothing happens on a chain, Redis is looked at so often: it may lose its data at any time. */
const LOOK_EVERY_MS = 1_000

type Item = { readonly set: ChangeSetIndex; readonly position: LogPosition }

type Contents = { readonly latest: LatestChanges; readonly rows: readonly TableRows[] }

type Batch = { readonly items: readonly Item[]; readonly contents: () => Contents }

/**
 * Carries one chain's CHANGES into both stores: data rows, then documents, then the marker. The marker is
 * last, so that a crash anywhere before it repeats the batch, and every write can be repeated.
 */
export class ChainWriter {
  readonly #parts: ChainWriterParts
  /** The marker: both stores hold at least this. */
  #written: ChainHead | undefined
  /** What was last applied to Redis: what others may have seen there. */
  #applied: ChainHead | undefined
  #lastSeq = -1
  /** Where CHANGES ended at the start; infinite once that was reached. */
  #end = 0

  constructor(parts: ChainWriterParts) {
    this.#parts = parts
  }

  /** Where in CHANGES the marker stands. */
  get position(): number {
    return this.#written?.position.seq ?? 0
  }

  /** Until the signal aborts: then the batch at hand is finished first. */
  async run(): Promise<void> {
    const { chain, history, limits, log, logger, metrics, signal, insist, report } = this.#parts
    this.#written = await insist(() => history.marker(chain))
    if (this.#written !== undefined) {
      this.#lastSeq = this.#written.seq
      metrics.advance(this.#written)
    }
    await insist(() => this.#completeHot())
    this.#end = await log.lastSequence()
    this.#reportCaughtUp()
    report(undefined)
    logger.info({ seq: this.#lastSeq, number: this.#written?.number }, 'Writing the chain')

    const queue = new BatchQueue<Item>({ maxSize: limits.max_batch_rows, maxWaitMs: limits.max_batch_ms })
    const failed = new AbortController()
    const stopReading = AbortSignal.any([signal, failed.signal])
    const outcomes = await Promise.allSettled([
      this.#read(queue, stopReading).finally(() => queue.end()),
      this.#drain(queue).finally(() => {
        failed.abort()
        queue.end()
      }),
    ])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async #read(queue: BatchQueue<Item>, signal: AbortSignal): Promise<void> {
    for await (const message of this.#parts.log.read({ after: this.#written?.position, signal })) {
      const set = this.#index(message)
      if (set.seq <= this.#lastSeq) {
        throw new ChaintapeError('diverged', `CHANGES goes back from version ${this.#lastSeq} to ${set.seq}`)
      }
      this.#lastSeq = set.seq
      await queue.put({ set, position: message.position }, sizeOf(set))
    }
  }

  async #drain(queue: BatchQueue<Item>): Promise<void> {
    const { signal } = this.#parts
    let next = takeBatch(queue)
    while (!signal.aborted) {
      const batch = await this.#watchUntil(next)
      if (batch === undefined) return
      // Made into rows while the stores are busy with this one.
      next = takeBatch(queue)
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

  async #write({ items, contents }: Batch): Promise<void> {
    const { history, hot, chain, insist, metrics, report } = this.#parts
    const head = headAt(items.at(-1) as Item)
    const startedAt = performance.now()
    const written = await insist(async () => {
      await this.#completeHot()
      const { latest, rows } = contents()
      const counts = await history.write(rows)
      await hot.apply(latest, head)
      this.#applied = head
      await history.commit(head)
      return counts
    })
    this.#written = head
    this.#reportCaughtUp()
    report(undefined)
    metrics.advance(head)
    metrics.batches.inc({ chain })
    metrics.batchSeconds.observe({ chain }, (performance.now() - startedAt) / 1_000)
    for (const [table, count] of Object.entries(written)) metrics.rows.inc({ chain, table }, count)
  }

  /** One of these messages cannot be written: those before it are, and it is named. */
  async #writeOneByOne(items: readonly Item[]): Promise<void> {
    for (const item of items) {
      try {
        await this.#write({ items: [item], contents: () => contentsOf([item]) })
      } catch (error) {
        throw isOfMessage(error) ? new PoisonedMessage(this.#placeOf(item.position), error) : error
      }
    }
  }

  #placeOf({ seq }: LogPosition): MessagePlace {
    return { chain: this.#parts.chain, log: 'CHANGES', sequence: seq }
  }

  #reportCaughtUp(): void {
    if ((this.#written?.position.seq ?? 0) < this.#end) return
    this.#end = Number.POSITIVE_INFINITY
    this.#parts.onCaughtUp()
  }

  /** Looks after Redis for as long as there is nothing to write. */
  async #watchUntil(next: Promise<Batch | undefined>): Promise<Batch | undefined> {
    const { insist, report, signal } = this.#parts
    const came = new AbortController()
    const pause = (): Promise<void> =>
      sleep(LOOK_EVERY_MS, undefined, { signal: came.signal }).catch(() => undefined)
    const coming = next.finally(() => came.abort())
    // Whoever waits for it below is told.
    coming.catch(() => undefined)
    for (;;) {
      await Promise.race([coming, pause()])
      if (came.signal.aborted || signal.aborted) return coming
      await insist(() => this.#completeHot())
      report(undefined)
    }
  }

  /** Redis may lose everything at any time; what it held is then applied to it again. */
  async #completeHot(): Promise<void> {
    const { chain, hot, log, logger, rebuildHot, report } = this.#parts
    const head = await hot.head(chain)
    if (head !== undefined && head.position.epoch !== log.epoch) {
      throw new ChaintapeError('diverged', `Redis holds chain ${chain} as read from another CHANGES log`)
    }
    const target = this.#applied ?? this.#written
    if (target === undefined || (head !== undefined && head.seq >= target.seq)) return
    logger.error(
      { redis_seq: head?.seq, marker_seq: target.seq },
      'Redis has lost data and is filled again from the log',
    )
    report(`${chain}: Redis has lost data and is being filled again`)
    try {
      await this.#refill(head?.position, target)
    } catch (error) {
      if (!(error instanceof ChaintapeError && error.code === 'log_truncated')) throw error
      logger.warn({ err: error }, 'CHANGES does not reach back far enough, Redis is filled from ClickHouse')
      await rebuildHot(target)
    }
    logger.info({ marker_seq: target.seq }, 'Redis is filled again')
  }

  async #refill(after: LogPosition | undefined, target: ChainHead): Promise<void> {
    const { hot, limits, log, signal } = this.#parts
    let sets: ChangeSetIndex[] = []
    let size = 0
    for await (const message of log.read({ after, signal })) {
      const set = this.#index(message)
      sets.push(set)
      size += sizeOf(set)
      const isLast = message.position.seq >= target.position.seq
      if (!isLast && size < limits.max_batch_rows) continue
      await hot.apply(latestChanges(sets), headAt({ set, position: message.position }))
      if (isLast) return
      sets = []
      size = 0
    }
    signal.throwIfAborted()
  }

  #index(message: LogMessage): ChangeSetIndex {
    const { chain } = this.#parts
    const set = blameMessage(this.#placeOf(message.position), () => indexChangeSet(message.body))
    if (set.chain !== chain) {
      throw new ChaintapeError('diverged', `CHANGES of chain ${chain} holds a message of chain ${set.chain}`)
    }
    return set
  }
}

async function takeBatch(queue: BatchQueue<Item>): Promise<Batch | undefined> {
  const items = await queue.take()
  if (items.length === 0) return undefined
  try {
    const contents = contentsOf(items)
    return { items, contents: () => contents }
  } catch {
    // It fails again when it is written, where the message at fault is looked for.
    return { items, contents: () => contentsOf(items) }
  }
}

function contentsOf(items: readonly Item[]): Contents {
  const latest = latestChanges(items.map(({ set }) => set))
  return { latest, rows: rowsOf(latest) }
}

/** Neither a store that is away nor a log or store that is not what it was: then the contents cannot be written. */
function isOfMessage(error: unknown): boolean {
  return !(error instanceof ChaintapeError)
}

function sizeOf({ count }: ChangeSetIndex): number {
  return Math.max(1, count)
}

function headAt({ set, position }: Item): ChainHead {
  return { chain: set.chain, seq: set.seq, ...set.head, finalNumber: set.finalNumber, position }
}
