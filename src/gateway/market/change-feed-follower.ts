import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { ChainHead } from '../../domain/chain-head.ts'
import type { ChangeSet } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { blameMessage } from '../../domain/quarantine.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChainLog, LogMessage } from '../../log/chain-log.ts'
import { SERVER_NAMES, STORE_NAMES, type StoreName } from '../../store/store-names.ts'
import { openChangeSet } from '../../wire/change-codec.ts'
import { FIRST_LINK } from '../../wire/frame.ts'
import { BufferedSets } from './buffered-sets.ts'
import { Overlay } from './overlay.ts'
import { type BlockHead, type FeedPosition, headOf, ReadPosition } from './read-position.ts'
import { type ReadHeads, StoredHeads } from './stored-heads.ts'

/** The log compresses messages to about half, and in memory they take about twice their own bytes. */
const MEMORY_PER_STORED_BYTE = 4

export type { BlockHead, FeedPosition }

export type FollowedLog = Pick<ChainLog, 'epoch' | 'read' | 'lastMessage' | 'locate' | 'bytesAfter'>

export type ReceivedSet = {
  /** To be read at once: its candles are bytes of memory that is used again. */
  readonly set: ChangeSet
  /** What stands before it in the log, and its message. */
  readonly origin: FeedPosition
  readonly message: LogMessage
}

export type FollowOptions = {
  /** How far the writer has brought each store. */
  readonly heads: ReadHeads
  /** Called with every set, in order, once reads see it. */
  readonly onChangeSet: (received: ReceivedSet) => void
  readonly logger: Logger
  /** Limit of the overlay of one chain. */
  readonly maxBytes: number
  /** Opens the log of a chain again, which may have been created anew. */
  readonly reopen?: (chain: string) => Promise<FollowedLog>
  /** Called when the chain goes on elsewhere in the log: change sets were left out. */
  readonly onGap?: (chain: string) => void
  /** Called when reads advance to the commit point of a store because the feed is late: no change set reports the changes. */
  readonly onAdopted?: (chain: string) => void
  readonly pruneMs?: number
}

export type FollowHooks = {
  readonly signal: AbortSignal
  /** Called once it is known where the chain's documents stand. */
  readonly onStarted: () => void
  /** Called at the end that the log had at the start, if the chain is available there. */
  readonly onCaughtUp: () => void
  /** Called when anything left the overlay. */
  readonly onDropped: () => void
}

/** A few milliseconds of work; with the pause after it, in which others can read, still more than comes in meanwhile. */
const CHANGES_DROPPED_AT_ONCE = 10_000
const DROP_PAUSE_MS = 50
/** A full overlay is emptied a little further, so that the next message does not find it full again. */
const SHED_TO = 0.9
const NO_OVERLAY = new Overlay()
/** The messages that the chain stands at are gone: it can only go on elsewhere. */
const LOST_PLACE: ReadonlySet<string> = new Set(['log_truncated', 'log_epoch_changed'])

/** One chain's change sets: taken in as they come, and forgotten once the writer has put them into both stores. */
export class ChangeFeedFollower {
  readonly #buffer = new BufferedSets()
  readonly stores: StoredHeads
  readonly #name: string
  #log: FollowedLog
  readonly #options: FollowOptions
  readonly reads: ReadPosition
  /** Up to this change set nothing is in the overlay any more. */
  #dropped = 0
  /** It has reached, at least once, the end that the log had in the beginning. */
  isCaughtUp = false
  /** From a failure until the chain has caught up again: its documents may be outdated. */
  #isFaulty = false
  #hasStarted = false
  #hasLostPlace = false
  #catchUp: () => void = () => undefined

  constructor(name: string, log: FollowedLog, options: FollowOptions) {
    this.#name = name
    this.#log = log
    this.#options = options
    this.stores = new StoredHeads(name, options.heads)
    const { logger, onAdopted = () => undefined } = options
    this.reads = new ReadPosition(startOf(log), {
      ...{ chain: name, stores: this.stores, logger },
      epoch: () => this.#log.epoch,
      onAdopted: () => onAdopted(name),
    })
  }

  /** What a store may lack: nothing while reads answer as of a store's commit point. */
  get overlay(): Overlay {
    return this.reads.isAheadOfFeed ? NO_OVERLAY : this.#buffer.overlay
  }

  get overlaySize(): number {
    return this.#buffer.overlay.size
  }

  /** Stores must have everything up to this change set; what is newer is in the overlay. */
  get dropped(): number {
    return this.reads.isAheadOfFeed ? this.reads.end.seq : this.#dropped
  }

  /** Whether overlay and a store together hold the newest version of every document. */
  get isAvailable(): boolean {
    return !this.#isFaulty && STORE_NAMES.some((store) => this.reads.isWhole(store))
  }

  /** Roughly what the overlay takes. */
  get bytes(): number {
    return this.#buffer.bytes
  }

  /** Until the signal aborts; rejects when the log cannot be followed any further. Called again, it goes on. */
  async follow(hooks: FollowHooks): Promise<void> {
    try {
      await this.#follow(hooks)
    } catch (error) {
      if (!hooks.signal.aborted) this.#isFaulty = true
      if (error instanceof ChaintapeError && LOST_PLACE.has(error.code)) this.#hasLostPlace = true
      throw error
    }
  }

  async #follow({ signal, onStarted, onCaughtUp, onDropped }: FollowHooks): Promise<void> {
    if (this.#hasLostPlace) await this.#leave(onDropped)
    if (!this.#hasStarted) await this.#start()
    const end = (await this.#log.lastMessage())?.position.sequence ?? 0
    this.#catchUp = () => {
      if (this.reads.feed.after.sequence < end) return
      this.isCaughtUp = true
      this.#isFaulty = false
      if (this.isAvailable) onCaughtUp()
    }
    this.#catchUp()
    onStarted()
    for await (const message of this.#log.read({ after: this.reads.feed.after, signal })) {
      this.#takeOrBlame(message)
      if (this.#buffer.bytes > this.#options.maxBytes) this.#shed(onDropped)
      this.#catchUp()
      // If many messages are queued, each is pushed, and requests are served, before the next one is applied.
      await turn()
    }
  }

  async #start(): Promise<void> {
    const { heads, isAnyEmpty, isForeign } = await this.stores.lookAtAll(this.#log.epoch)
    const start = startOf(this.#log)
    // With the whole log in the overlay, a store that holds nothing of it yet can be read as well.
    const isFromStart = isAnyEmpty && (await this.#hasRoomAfter(start))
    const from = isFromStart ? undefined : await this.#firstWithRoom(heads)
    if (isFromStart) {
      // The documents of another log must not be taken for those of this one.
      if (isForeign) this.stores.need(0)
      this.reads.reset({ ...this.reads.feed, after: start })
    } else if (from !== undefined) {
      const feed = { after: from.position, seq: from.seq, time: from.time }
      this.reads.reset(feed, headOf(from, from.finalNumber))
      this.#dropped = from.seq
      this.stores.need(from.seq)
    } else await this.#startAtEnd()
    this.#hasStarted = true
  }

  /** From there on either store can be read; if that does not fit, then at least the one that is further. */
  async #firstWithRoom(heads: readonly ChainHead[]): Promise<ChainHead | undefined> {
    for (const head of heads) if (await this.#hasRoomAfter(head.position)) return head
    return undefined
  }

  /** Whether all that follows on a position is in the log, and fits into the overlay. */
  async #hasRoomAfter(from: LogPosition): Promise<boolean> {
    if ((await this.#log.locate(from)) === 'dropped') return false
    return (await this.#log.bytesAfter(from.sequence)) * MEMORY_PER_STORED_BYTE <= this.#options.maxBytes
  }

  /** Degraded: the chain is unavailable until the writer has come as far as the log is now. */
  async #startAtEnd(): Promise<void> {
    const last = await this.#log.lastMessage()
    if (last === undefined) {
      this.reads.reset({ ...this.reads.feed, after: startOf(this.#log) })
      return
    }
    const { set } = openChangeSet(last.body)
    const feed = { after: last.position, seq: set.seq, time: set.head.time }
    this.reads.reset(feed, headOf(set.head, set.finalNumber))
    this.#dropped = set.seq
    this.stores.need(set.seq)
    this.#options.logger.warn(
      { chain: this.#name, seq: set.seq },
      'Stores too far behind; chain unavailable until the writer catches up',
    )
  }

  /** Forgets everything, to start anew. */
  async #leave(onDropped: () => void): Promise<void> {
    const { reopen, onGap } = this.#options
    if (reopen !== undefined) this.#log = await reopen(this.#name)
    this.#buffer.drop(Number.POSITIVE_INFINITY)
    this.#hasStarted = false
    this.#hasLostPlace = false
    this.stores.reset()
    this.reads.reset({ ...this.reads.feed, seq: 0 })
    this.#dropped = 0
    onDropped()
    onGap?.(this.#name)
  }

  /**
   * Drops the oldest sets although a store does not have them: it cannot be read until it does. If none has them, the chain is
   * unavailable.
   */
  #shed(onDropped: () => void): void {
    const { maxBytes, logger } = this.#options
    const wasAvailable = this.isAvailable
    const upTo = this.#buffer.shed(maxBytes * SHED_TO) ?? this.#dropped
    this.#dropped = Math.max(this.#dropped, upTo)
    this.stores.need(upTo)
    onDropped()
    if (wasAvailable && !this.isAvailable) {
      logger.warn(
        { chain: this.#name, seq: upTo },
        'Overlay full; chain unavailable until the writer catches up',
      )
    }
  }

  #takeOrBlame(message: LogMessage): void {
    const place = { chain: this.#name, log: 'CHANGES', sequence: message.position.sequence } as const
    blameMessage(place, () => this.#take(message))
  }

  /** A separate method, so that the suspended loop does not retain the previous change set. */
  #take(message: LogMessage): void {
    const { body, position } = message
    const set = this.#buffer.add(body)
    const origin = this.reads.feed
    const feed = { after: position, seq: set.seq, time: set.head.time }
    this.reads.advance(feed, set.head, set.finalNumber)
    this.#options.onChangeSet({ set, origin, message })
  }

  /** Until the signal aborts. */
  async prune(signal: AbortSignal, onDropped: () => void): Promise<void> {
    // One that hangs does not keep the other from being looked at.
    await Promise.all(STORE_NAMES.map((store) => this.#pruneBy(store, signal, onDropped)))
  }

  async #pruneBy(store: StoreName, signal: AbortSignal, onDropped: () => void): Promise<void> {
    const { logger, pruneMs = 1_000 } = this.#options
    let isAway = false
    let before = 0
    while (await pause(pruneMs, signal)) {
      try {
        const wasAvailable = this.isAvailable
        const head = await this.stores.look(store, this.#log.epoch)
        isAway = false
        if (head === undefined) continue
        if (!wasAvailable && this.isAvailable) logger.info({ chain: this.#name }, 'Chain available again')
        this.#catchUp()
        // What the store had at the last look has not come by the feed since. Both stores have it, so both stay readable.
        const isOverdue = this.#hasStarted && before > this.reads.end.seq
        if (isOverdue && head.seq === this.stores.common) this.reads.adopt(head)
        before = head.seq
        await this.#drop(this.stores.common, signal, onDropped)
      } catch (error) {
        if (!signal.aborted && !isAway)
          logger.warn({ err: error, chain: this.#name }, `Could not read how far ${SERVER_NAMES[store]} is`)
        isAway = true
      }
    }
  }

  /** In small steps, so that pushes and reads do not wait long. */
  async #drop(seq: number, signal: AbortSignal, onDropped: () => void): Promise<void> {
    do {
      const dropped = this.#buffer.drop(seq, CHANGES_DROPPED_AT_ONCE)
      if (dropped === undefined) return
      this.#dropped = Math.max(this.#dropped, Math.min(dropped, this.reads.feed.seq))
      onDropped()
    } while (await pause(DROP_PAUSE_MS, signal))
  }
}

function startOf({ epoch }: FollowedLog): LogPosition {
  return { epoch, sequence: 0, link: FIRST_LINK }
}

/** False when the wait was ended by the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal })
    return true
  } catch (error) {
    if (!signal.aborted) throw error
    return false
  }
}
