import type { ChainHead } from '../../domain/chain-head.ts'
import { storedName } from '../../domain/generation.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { HistoryStore } from '../../store/clickhouse/history-store.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'
import { STORE_NAMES, type StoreName } from '../../store/store-names.ts'
import { historySide } from './history-side.ts'
import { HotSide } from './hot-side.ts'
import { SharedLog } from './shared-log.ts'
import { StoreWriter, type StoreWriterParts } from './store-writer.ts'

export type ChainWriterParts = Pick<
  StoreWriterParts,
  'folded' | 'label' | 'limits' | 'metrics' | 'signal'
> & {
  readonly log: ChainLog
  readonly history: HistoryStore
  /** Settles once the tables are there. */
  readonly migrated: Promise<unknown>
  readonly hot: Promise<HotStore>
  /** Fills Redis from ClickHouse, up to this head. */
  readonly rebuildHot: (head: ChainHead) => Promise<void>
  readonly logger: Logger
  /** Runs `work` until this store answers. */
  readonly insist: (store: StoreName, until: AbortSignal) => StoreWriterParts['insist']
  /** What keeps Redis from being whole; undefined when nothing does. */
  readonly report: (problem: string | undefined) => void
  /** Called when both stores are written up to where CHANGES ended at the start. */
  readonly onCaughtUp: () => void
}

/**
 * Carries the CHANGES of one generation of a chain into both stores, under its stored name. Each has its own position in the log and its own commit point, so that a store that
 * is away, full or slow does not stop the other, and catches up when it is back. A message that cannot be written stops both.
 */
export class ChainWriter {
  readonly #parts: ChainWriterParts
  readonly #stores: Readonly<Record<StoreName, StoreWriter<unknown>>>
  /** A fatal error of one store stops the other. */
  readonly #failed = new AbortController()
  /** Where CHANGES ended at the start; infinite until that is known, and once that was reached. */
  #end = Number.POSITIVE_INFINITY

  constructor(parts: ChainWriterParts) {
    const { folded, label, log, limits, metrics, history, hot, rebuildHot, report, logger } = parts
    this.#parts = parts
    const signal = AbortSignal.any([parts.signal, this.#failed.signal])
    const shared = new SharedLog(folded, log, limits.max_batch_rows)
    const onWritten = (): void => this.#reportCaughtUp()
    const common = { folded, label, log: shared, limits, metrics, signal, onWritten }
    const ready = { clickhouse: parts.migrated, redis: hot }
    const partsOf = (store: StoreName): StoreWriterParts => ({
      ...common,
      ready: ready[store],
      insist: parts.insist(store, signal),
    })
    const chain = storedName(folded.chain, folded.generation)
    const countRows = (table: string, count: number): void =>
      metrics.rows.inc({ chain: label(), table }, count)
    const hotSide = new HotSide({ chain, log, hot, history, rebuildHot, logger, report })
    this.#stores = {
      clickhouse: new StoreWriter(historySide(chain, history, countRows), partsOf('clickhouse')),
      redis: new StoreWriter(hotSide, partsOf('redis')),
    }
  }

  /** Where in CHANGES a store's commit point stands; by default that of the store which is further behind. */
  position(store?: StoreName): number {
    if (store !== undefined) return this.#stores[store].position ?? 0
    return Math.min(...STORE_NAMES.map((name) => this.position(name)))
  }

  /** Until the signal aborts: then the batches at hand are finished first. */
  async run(): Promise<void> {
    const { log, logger } = this.#parts
    this.#end = await log.lastSequence()
    logger.info({ end: this.#end }, 'Chain writer started')
    const failures: unknown[] = []
    const runs = STORE_NAMES.map(async (name) => {
      try {
        await this.#stores[name].run()
      } catch (error) {
        failures.push(error)
        this.#failed.abort()
      }
    })
    await Promise.all(runs)
    if (failures.length > 0) throw failures[0]
  }

  #reportCaughtUp(): void {
    if (STORE_NAMES.some((name) => (this.#stores[name].position ?? -1) < this.#end)) return
    this.#end = Number.POSITIVE_INFINITY
    this.#parts.onCaughtUp()
  }
}
