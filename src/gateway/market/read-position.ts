import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainHead } from '../../domain/chain-head.ts'
import type { ChangeSet } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { Logger } from '../../lib/logger.ts'
import { SERVER_NAMES, type StoreName } from '../../store/store-names.ts'
import type { StoredHeads } from './stored-heads.ts'

export type BlockHead = {
  readonly number: number
  readonly time: number
  readonly finalNumber: number
  /** Windows contain all trades since then. */
  readonly startTime?: number
}

/** A position in a chain's change feed: after which message, with which change set, and the time of its head. */
export type FeedPosition = { readonly after: LogPosition; readonly seq: number; readonly time: number }

export type ReadPositionParts = {
  readonly chain: string
  readonly stores: StoredHeads
  readonly epoch: () => string
  /** Called when reads advance to the commit point of a store: no change set reports the changes. */
  readonly onAdopted: () => void
  readonly logger: Logger
}

/** Longer than a block takes from one reader of the log to the next. */
const FEED_WAIT_MS = 500
/** Longer than a batch is in a store before its commit point. */
const COMMIT_WAIT_MS = 500
const LOOK_EVERY_MS = 5
/** ClickHouse commits a block later than Redis. */
const HISTORY_WAIT_MS = 2_000
const HISTORY_LOOK_MS = 25
const NEVER = -1

/**
 * The change set that reads of a chain answer as of: the last one of the feed, or the commit point of a store that is ahead of the
 * feed. Pushes follow the feed alone.
 */
export class ReadPosition {
  head: BlockHead | undefined
  readonly #parts: ReadPositionParts
  #feed: FeedPosition
  #commitPoint: FeedPosition | undefined
  /** Where the feed stood when it was last waited for in vain. */
  #stalledAt = NEVER

  constructor(start: LogPosition, parts: ReadPositionParts) {
    this.#parts = parts
    this.#feed = { after: start, seq: 0, time: 0 }
  }

  get feed(): FeedPosition {
    return this.#feed
  }

  get end(): FeedPosition {
    return this.isAheadOfFeed && this.#commitPoint !== undefined ? this.#commitPoint : this.#feed
  }

  get isAheadOfFeed(): boolean {
    return this.adopted > this.#feed.seq
  }

  /** The `seq` of the commit point that was adopted last. */
  get adopted(): number {
    return this.#commitPoint?.seq ?? NEVER
  }

  /** The feed has brought a set. */
  advance(feed: FeedPosition, head: ChangeSet['head'], finalNumber: number): void {
    const { chain, logger } = this.#parts
    const wasAhead = this.isAheadOfFeed
    this.#feed = feed
    if (this.isAheadOfFeed) return
    this.head = headOf(head, finalNumber)
    if (wasAhead) logger.info({ chain }, 'Change feed has caught up with the stores')
  }

  /** Starts over, with a feed that starts here. */
  reset(feed: FeedPosition, head = this.head): void {
    this.#feed = feed
    this.#commitPoint = undefined
    this.head = head
  }

  adopt(head: ChainHead): void {
    if (head.seq <= this.end.seq) return
    const { chain, logger, onAdopted } = this.#parts
    if (!this.isAheadOfFeed)
      logger.warn({ chain, block: head.number }, 'Change feed is behind the stores; reads follow the stores')
    this.#commitPoint = { after: head.position, seq: head.seq, time: head.time }
    this.head = headOf(head, head.finalNumber)
    onAdopted()
  }

  /** Whether this store, with what the overlay holds, has the newest version of every document. */
  isWhole(store: StoreName): boolean {
    const { stores } = this.#parts
    return stores.isWhole(store) && (!this.isAheadOfFeed || stores.has(store, this.end.seq))
  }

  /**
   * Resolves once reads answer as of this change set, of which a store holds a document. The feed brings it. If the feed is late, the
   * store's commit point says which block that is, and reads answer as of it.
   */
  async reach(seq: number, store: StoreName): Promise<void> {
    const { stores, epoch } = this.#parts
    for (let waited = 0; seq > this.end.seq; waited += LOOK_EVERY_MS) {
      if (waited >= FEED_WAIT_MS) this.#stalledAt = this.#feed.seq
      if (this.isAheadOfFeed || this.#stalledAt === this.#feed.seq) {
        const head = await stores.look(store, epoch())
        if (head !== undefined && head.seq >= seq) this.adopt(head)
      }
      if (seq <= this.end.seq) return
      if (waited >= FEED_WAIT_MS + COMMIT_WAIT_MS)
        throw new ChaintapeError('store_unavailable', `${SERVER_NAMES[store]} has not committed a block`)
      await sleep(LOOK_EVERY_MS)
    }
  }

  /** Rows of ClickHouse can be joined with the overlay only if none between them is missing. */
  async mustHaveHistory(): Promise<void> {
    const { stores, epoch } = this.#parts
    const { isAheadOfFeed, end } = this
    const isThere = (): boolean =>
      stores.isWhole('clickhouse') && (!isAheadOfFeed || stores.has('clickhouse', end.seq))
    for (let waited = 0; !isThere(); waited += HISTORY_LOOK_MS) {
      if (!isAheadOfFeed || waited > HISTORY_WAIT_MS)
        throw new ChaintapeError('store_unavailable', 'ClickHouse lags behind; retry after the given delay')
      if (waited > 0) await sleep(HISTORY_LOOK_MS)
      await stores.look('clickhouse', epoch())
    }
  }
}

export function headOf({ number, time, startTime }: ChangeSet['head'], finalNumber: number): BlockHead {
  return { number, time, finalNumber, ...(startTime === undefined ? {} : { startTime }) }
}
