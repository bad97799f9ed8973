import type { ChainHead } from '../../domain/chain-head.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { HistoryStore } from '../../store/clickhouse/history-store.ts'
import type { LatestChanges } from '../../store/latest-changes.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'
import { StoreLost, type WrittenStore } from './store-writer.ts'

export type HotSideParts = {
  /** The chain's stored name. */
  readonly chain: string
  readonly log: ChainLog
  readonly hot: Promise<Pick<HotStore, 'head' | 'apply'>>
  readonly history: Pick<HistoryStore, 'marker'>
  /** Fills Redis from ClickHouse, up to this head. */
  readonly rebuildHot: (head: ChainHead) => Promise<void>
  readonly logger: Logger
  /** What keeps Redis from being whole; undefined when nothing does. */
  readonly report: (problem: string | undefined) => void
}

/** Redis: documents, then the head, which is its commit point. Redis may lose everything at any time, and is then filled again. */
export class HotSide implements WrittenStore<LatestChanges> {
  readonly name = 'redis'
  readonly #parts: HotSideParts
  /** What was last applied: what others may have seen. */
  #applied: ChainHead | undefined
  /** The version up to which lost data is being filled in. */
  #fillingTo: number | undefined

  constructor(parts: HotSideParts) {
    this.#parts = parts
  }

  async open(before: ChainHead | undefined): Promise<ChainHead | undefined> {
    const { chain, hot, log } = this.#parts
    const head = await (await hot).head(chain)
    if (head !== undefined && head.position.epoch !== log.epoch) {
      throw new ChaintapeError('diverged', `Redis has chain ${chain} from another CHANGES log`)
    }
    if (head === undefined || head.seq < (before?.seq ?? 0)) await this.#noteLoss(head, before)
    return this.#stand(head ?? (await this.#fillFromClickhouse()))
  }

  contentsOf(latest: LatestChanges): LatestChanges {
    return latest
  }

  async write(latest: LatestChanges, head: ChainHead): Promise<void> {
    await this.look()
    await (await this.#parts.hot).apply(latest, head)
    this.#stand(head)
  }

  async look(): Promise<void> {
    const { chain, hot } = this.#parts
    const head = await (await hot).head(chain)
    if (this.#applied !== undefined && (head?.seq ?? -1) < this.#applied.seq) throw new StoreLost()
  }

  async refill(truncated: ChaintapeError): Promise<void> {
    const { chain, history, logger, rebuildHot } = this.#parts
    const marker = await history.marker(chain)
    if (marker === undefined || marker.seq <= (this.#applied?.seq ?? -1)) throw truncated
    logger.warn({ err: truncated }, 'CHANGES does not reach back far enough; filling Redis from ClickHouse')
    await rebuildHot(marker)
  }

  /**
   * The log would have to be read from its first message on, which may be weeks ago. It is all there is while ClickHouse is
   * away, or before it has anything.
   */
  async #fillFromClickhouse(): Promise<ChainHead | undefined> {
    const { log, logger, rebuildHot } = this.#parts
    const marker = await this.#markerIfServed()
    if (marker === undefined || marker.position.epoch !== log.epoch) return undefined
    logger.info({ seq: marker.seq }, 'Filling Redis from ClickHouse')
    await rebuildHot(marker)
    return marker
  }

  /** The marker of ClickHouse; undefined while ClickHouse is unavailable, too. */
  async #markerIfServed(): Promise<ChainHead | undefined> {
    const { chain, history, logger } = this.#parts
    try {
      return await history.marker(chain)
    } catch (error) {
      if (!(error instanceof ChaintapeError && error.code === 'store_unavailable')) throw error
      logger.warn({ err: error }, 'ClickHouse is unavailable; its marker is not compared with Redis')
      return undefined
    }
  }

  #stand(head: ChainHead | undefined): ChainHead | undefined {
    const { logger, report } = this.#parts
    this.#applied = head
    if (this.#fillingTo !== undefined && (head?.seq ?? 0) >= this.#fillingTo) {
      this.#fillingTo = undefined
      report(undefined)
      logger.info({ seq: head?.seq }, 'Redis refilled')
    }
    return head
  }

  /** A new Redis looks like one that lost everything: only a marker known from elsewhere separates them. */
  async #noteLoss(head: ChainHead | undefined, before: ChainHead | undefined): Promise<void> {
    const { chain, logger, report } = this.#parts
    const known = before ?? (await this.#markerIfServed())
    if (known === undefined || known.seq <= (this.#fillingTo ?? -1)) return
    this.#fillingTo = known.seq
    logger.error({ redis_seq: head?.seq, known_seq: known.seq }, 'Redis lost data')
    report(`${chain}: Redis has lost data and is being filled again`)
  }
}
