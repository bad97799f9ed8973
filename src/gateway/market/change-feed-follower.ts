import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { ChangeSet } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { changesLogOf, type Generation, storedName } from '../../domain/generation.ts'
import { blameMessage } from '../../domain/quarantine.ts'
import type { Logger } from '../../lib/logger.ts'
import type { LogMessage } from '../../log/chain-log.ts'
import { SERVER_NAMES, STORE_NAMES, type StoreName } from '../../store/store-names.ts'
import { BufferedSets } from './buffered-sets.ts'
import { type FollowedLog, findStart, startOf } from './feed-start.ts'
import { Overlay } from './overlay.ts'
import { type BlockHead, type FeedPosition, ReadPosition } from './read-position.ts'
import { type ReadHeads, StoredHeads } from './stored-heads.ts'

export type { BlockHead, FeedPosition }

export type ReceivedSet = {
  readonly set: ChangeSet
  /** Its predecessor's position in the log. */
  readonly origin: FeedPosition
  readonly message: LogMessage
  /** False for sets that were in the log before the gateway started. */
  readonly isCaughtUp: boolean
}

export type FollowOptions = {
  /** Reads the commit point of each store, by stored name. */
  readonly heads: ReadHeads
  /** Called with every change set, in order, once reads see it. */
  readonly onChangeSet: (received: ReceivedSet) => void
  readonly logger: Logger
  /** Limit of the overlay of one chain. */
  readonly maxBytes: number
  /** Opens a generation's log again, because it may have been recreated. */
  readonly reopen?: (chain: string, generation: Generation) => Promise<FollowedLog>
  /** Called when the chain continues elsewhere in the log: change sets were skipped. */
  readonly onGap?: (chain: string) => void
  /** Called when reads advance to the commit point of a store because the feed is late: no change set reports the changes. */
  readonly onAdopted?: (chain: string) => void
  readonly pruneMs?: number
}

/** A generation of a chain, and the log with its changes. */
export type GenerationFeed = { readonly generation: Generation; readonly log: FollowedLog }

export type FollowHooks = {
  readonly signal: AbortSignal
  /** Called once the position of the chain's documents is known. */
  readonly onStarted: () => void
  /** Called at the message that was the last one at the start, if the chain is available there. */
  readonly onCaughtUp: () => void
  /** Called when documents were dropped from the overlay. */
  readonly onDropped: () => void
  /** Other work waits so long for a backlog of change sets; by default, for one of them. */
  readonly maxBusyMs?: number
}

/** A few milliseconds of work. Even with the pause between steps, more is dropped than arrives. */
const CHANGES_DROPPED_AT_ONCE = 10_000
const DROP_PAUSE_MS = 50
/** A full overlay is emptied a little further, so that the next message does not find it full again. */
const SHED_TO = 0.9
const NO_OVERLAY = new Overlay()
/** The next messages of the chain are gone: it can only continue elsewhere in the log. */
const LOST_PLACE: ReadonlySet<string> = new Set(['log_truncated', 'log_epoch_changed'])

/** Buffers the change sets of one generation of a chain as they arrive, and drops them once the writer has committed them to both stores. */
export class ChangeFeedFollower {
  readonly #buffer = new BufferedSets()
  readonly stores: StoredHeads
  readonly generation: Generation
  readonly #name: string
  #log: FollowedLog
  readonly #options: FollowOptions
  readonly reads: ReadPosition
  /** The overlay holds nothing up to this change set. */
  #dropped = 0
  /** It has reached, at least once, the message that was the last one at the start. */
  isCaughtUp = false
  /** From a failure until the chain has caught up again: its documents may be outdated. */
  #isFaulty = false
  #hasStarted = false
  #hasLostPlace = false
  #catchUp: () => void = () => undefined

  constructor(name: string, { generation, log }: GenerationFeed, options: FollowOptions) {
    this.#name = name
    this.generation = generation
    this.#log = log
    this.#options = options
    this.stores = new StoredHeads(storedName(name, generation), options.heads)
    const { logger, onAdopted = () => undefined } = options
    this.reads = new ReadPosition(startOf(log), {
      ...{ chain: name, stores: this.stores, logger },
      epoch: () => this.#log.epoch,
      onAdopted: () => onAdopted(name),
    })
  }

  /** Documents that a store may lack; empty while reads answer as of a store's commit point. */
  get overlay(): Overlay {
    return this.reads.isAheadOfFeed ? NO_OVERLAY : this.#buffer.overlay
  }

  get overlaySize(): number {
    return this.#buffer.overlay.size
  }

  /** Stores must have everything up to this change set; the overlay has everything after it. */
  get dropped(): number {
    return this.reads.isAheadOfFeed ? this.reads.end.seq : this.#dropped
  }

  /** Whether overlay and a store together hold the newest version of every document. */
  get isAvailable(): boolean {
    return !this.#isFaulty && STORE_NAMES.some((store) => this.reads.isWhole(store))
  }

  /** Approximate memory of the overlay. */
  get bytes(): number {
    return this.#buffer.bytes
  }

  /** Runs until the signal aborts; rejects if the log cannot be read any further. A second call resumes. */
  async follow(hooks: FollowHooks): Promise<void> {
    try {
      await this.#follow(hooks)
    } catch (error) {
      if (!hooks.signal.aborted) this.#isFaulty = true
      if (error instanceof ChaintapeError && LOST_PLACE.has(error.code)) this.#hasLostPlace = true
      throw error
    }
  }

  async #follow(hooks: FollowHooks): Promise<void> {
    const { signal, onStarted, onCaughtUp, onDropped, maxBusyMs = 0 } = hooks
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
    let turnedAt = performance.now()
    for await (const message of this.#log.read({ after: this.reads.feed.after, signal })) {
      // The log may have read ahead: another call resumes after the last set that was taken.
      if (signal.aborted) return
      this.#takeOrBlame(message)
      if (this.#buffer.bytes > this.#options.maxBytes) this.#shed(onDropped)
      this.#catchUp()
      // If many messages are queued, each is pushed, and requests are served, before the next one is applied.
      if (performance.now() - turnedAt < maxBusyMs) continue
      await turn()
      turnedAt = performance.now()
    }
  }

  async #start(): Promise<void> {
    const { logger, maxBytes } = this.#options
    const { after, previous, needed, isDegraded } = await findStart(this.#log, this.stores, maxBytes)
    if (needed !== undefined) this.stores.need(needed)
    if (previous === undefined) this.reads.reset({ ...this.reads.feed, after })
    else {
      const { seq, time, head } = previous
      this.reads.reset({ after, seq, time }, head)
      this.#dropped = seq
      if (isDegraded)
        logger.warn(
          { chain: this.#name, seq },
          'Stores too far behind; chain unavailable until the writer catches up',
        )
    }
    this.#hasStarted = true
  }

  /** Drops everything, to start over. */
  async #leave(onDropped: () => void): Promise<void> {
    const { reopen, onGap } = this.#options
    if (reopen !== undefined) this.#log = await reopen(this.#name, this.generation)
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
    const log = changesLogOf(this.generation)
    const place = { chain: this.#name, log, sequence: message.position.sequence }
    blameMessage(place, () => this.#take(message))
  }

  /** A separate method, so that the suspended loop does not retain the previous change set. */
  #take(message: LogMessage): void {
    const { body, position } = message
    const set = this.#buffer.add(body)
    const origin = this.reads.feed
    const feed = { after: position, seq: set.seq, time: set.head.time }
    this.reads.advance(feed, set.head, set.finalNumber)
    this.#options.onChangeSet({ set, origin, message, isCaughtUp: this.isCaughtUp })
  }

  /** Runs until the signal aborts. */
  async prune(signal: AbortSignal, onDropped: () => void): Promise<void> {
    // Separately, so that a store that hangs does not block the other.
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
        // The feed still lacks a set that the store had at the last check. Both stores have it, so both stay readable.
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
      // Sets of balances alone leave nothing in the overlay, but history must be read up to them, too.
      this.#dropped = Math.max(this.#dropped, Math.min(dropped ?? seq, this.reads.feed.seq))
      if (dropped === undefined) return
      onDropped()
    } while (await pause(DROP_PAUSE_MS, signal))
  }
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
