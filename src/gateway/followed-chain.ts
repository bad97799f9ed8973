import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { ChangeSet } from '../domain/change.ts'
import type { LogPosition } from '../domain/log-position.ts'
import { blameMessage } from '../domain/quarantine.ts'
import { openChangeSet } from '../domain/wire/change-codec.ts'
import { FIRST_LINK } from '../domain/wire/frame.ts'
import type { Logger } from '../lib/logger.ts'
import type { ChainLog, LogMessage } from '../log/chain-log.ts'
import type { HotStore } from '../store/redis/hot-store.ts'
import { MessageMemory } from './message-memory.ts'
import { Overlay } from './overlay.ts'

export type FollowedLog = Pick<ChainLog, 'epoch' | 'read' | 'lastMessage'>

export type BlockHead = {
  readonly number: number
  readonly time: number
  readonly finalNumber: number
  /** Time of the first block that was read. */
  readonly startTime?: number
}

/** Where a chain stands in its log, the version of the last set, and the time of the head it made; 0 before the first. */
export type ChainEnd = { readonly after: LogPosition; readonly version: number; readonly time: number }

export type ToldSet = {
  /** To be read at once: its candles are bytes of memory that is used again. */
  readonly set: ChangeSet
  /** What stands before it in the log, and its message. */
  readonly origin: ChainEnd
  readonly message: LogMessage
}

export type FollowOptions = {
  readonly store: Pick<HotStore, 'head'>
  /** Called with every set, in order, once reads see it. */
  readonly onChangeSet: (told: ToldSet) => void
  readonly logger: Logger
  readonly pruneMs?: number
}

export type FollowHooks = {
  readonly signal: AbortSignal
  /** Called once it is known where the chain's documents stand. */
  readonly onStarted: () => void
  /** Called at the end that the log had at the start. */
  readonly onCaughtUp: () => void
}

/** A few milliseconds of work; with the pause after it, in which others can read, still more than comes in meanwhile. */
const CHANGES_DROPPED_AT_ONCE = 10_000
const DROP_PAUSE_MS = 50

/** One chain's change sets: taken in as they come, and forgotten once the writer has put them into the hot store. */
export class FollowedChain {
  readonly overlay = new Overlay()
  /** Of the sets of these versions, oldest first: all that the overlay may still read. */
  readonly #memory = new MessageMemory()
  readonly #remembered: number[] = []
  readonly #name: string
  readonly #log: FollowedLog
  readonly #options: FollowOptions
  /** The version of the last set. */
  applied = 0
  /** Up to this version nothing is in the overlay any more. */
  dropped = 0
  head: BlockHead | undefined
  /** It has reached, at least once, the end that the log had in the beginning. */
  isCaughtUp = false
  /** False from a failure until the chain has caught up again: its documents may be outdated. */
  isAvailable = true
  #hasStarted = false
  #position: LogPosition

  constructor(name: string, log: FollowedLog, options: FollowOptions) {
    this.#name = name
    this.#log = log
    this.#options = options
    this.#position = { epoch: log.epoch, seq: 0, link: FIRST_LINK }
  }

  get end(): ChainEnd {
    return { after: this.#position, version: this.applied, time: this.head?.time ?? 0 }
  }

  /** Until the signal aborts; rejects when the log cannot be followed any further. Called again, it goes on. */
  async follow(hooks: FollowHooks): Promise<void> {
    try {
      await this.#follow(hooks)
    } catch (error) {
      if (!hooks.signal.aborted) this.isAvailable = false
      throw error
    }
  }

  async #follow({ signal, onStarted, onCaughtUp }: FollowHooks): Promise<void> {
    if (!this.#hasStarted) await this.#start()
    const end = (await this.#log.lastMessage())?.position.seq ?? 0
    const catchUp = (): void => {
      if (this.#position.seq < end) return
      this.isCaughtUp = true
      this.isAvailable = true
      onCaughtUp()
    }
    catchUp()
    onStarted()
    for await (const message of this.#log.read({ after: this.#position, signal })) {
      this.#takeOrBlame(message)
      catchUp()
      // Of many that are there at once, each is sent, and others are answered, before the next one is taken in.
      await turn()
    }
  }

  async #start(): Promise<void> {
    const stored = await this.#options.store.head(this.#name)
    if (stored !== undefined) {
      this.applied = stored.seq
      this.dropped = stored.seq
      this.#position = stored.position
      this.head = headOf(stored, stored.finalNumber)
    }
    this.#hasStarted = true
  }

  #takeOrBlame(message: LogMessage): void {
    const place = { chain: this.#name, log: 'CHANGES', sequence: message.position.seq } as const
    blameMessage(place, () => this.#take(message))
  }

  /** A set is not kept beyond this: what waits for the next message would keep the last one's in memory. */
  #take(message: LogMessage): void {
    const { body, position } = message
    const opened = openChangeSet(this.#memory.keep(body))
    const { set } = opened
    const origin = this.end
    this.overlay.apply(opened)
    this.#remembered.push(set.seq)
    this.applied = set.seq
    this.#position = position
    this.head = headOf(set.head, set.finalNumber)
    this.#options.onChangeSet({ set, origin, message })
  }

  /** Until the signal aborts. */
  async prune(signal: AbortSignal, onDropped: () => void): Promise<void> {
    const { store, logger, pruneMs = 1_000 } = this.#options
    while (await pause(pruneMs, signal)) {
      try {
        const head = await store.head(this.#name)
        if (head === undefined || head.position.epoch !== this.#log.epoch) continue
        await this.#drop(head.seq, signal, onDropped)
      } catch (error) {
        if (!signal.aborted)
          logger.warn({ err: error, chain: this.#name }, 'Could not read the head of the hot store')
      }
    }
  }

  /** A few at a time: whoever waits for a push, or reads while something is dropped, waits no longer than that. */
  async #drop(seq: number, signal: AbortSignal, onDropped: () => void): Promise<void> {
    do {
      const dropped = this.overlay.drop(seq, CHANGES_DROPPED_AT_ONCE)
      this.#forgetUpTo(dropped ?? seq)
      if (dropped === undefined) return
      this.dropped = Math.min(dropped, this.applied)
      onDropped()
    } while (await pause(DROP_PAUSE_MS, signal))
  }

  /** Nothing of these is in the overlay any more, or ever was. */
  #forgetUpTo(version: number): void {
    const left = this.#remembered.findIndex((seq) => seq > version)
    const count = left === -1 ? this.#remembered.length : left
    this.#remembered.splice(0, count)
    for (let nth = 0; nth < count; nth++) this.#memory.forgetOldest()
  }
}

function headOf({ number, time, startTime }: ChangeSet['head'], finalNumber: number): BlockHead {
  return { number, time, finalNumber, ...(startTime === undefined ? {} : { startTime }) }
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
