import { ChaintapeError } from '../../domain/errors.ts'
import { changesLogOf, type FoldedChain, storedName } from '../../domain/generation.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { blameMessage, type MessagePlace } from '../../domain/quarantine.ts'
import type { ChainLog, LogMessage } from '../../log/chain-log.ts'
import { type ChangeSetIndex, indexChangeSet } from '../../wire/change-index.ts'

export type ReadLog = Pick<ChainLog, 'epoch' | 'read'>

/** A CHANGES message with its index, under the stored name of its chain, and the position right after it. */
export type IndexedMessage = { readonly set: ChangeSetIndex; readonly position: LogPosition }

/**
 * Reads CHANGES from one position on, once for all stores that are its members. It holds the messages that a member has not taken
 * yet, up to `room` changes; a member that falls further behind is removed.
 */
export class LogReader {
  readonly #folded: FoldedChain
  readonly #room: number
  readonly #stop = new AbortController()
  readonly #log: AsyncGenerator<LogMessage, void, undefined>
  /** By store: how many messages of this reader come before the one that it takes next. */
  readonly #members = new Map<symbol, number>()
  /** Messages that a member has not taken, oldest first. */
  #held: IndexedMessage[] = []
  /** The position before the first of them, and how many messages came before it. */
  #floor: LogPosition
  #released = 0
  /** Changes in the held messages. */
  #size = 0
  #isPulling = false
  #failure: { readonly error: unknown } | undefined
  #changed = Promise.withResolvers<void>()

  constructor(folded: FoldedChain, log: ReadLog, after: LogPosition, room: number) {
    this.#folded = folded
    this.#room = room
    this.#floor = after
    this.#log = log.read({ after, signal: this.#stop.signal })
  }

  has(store: symbol): boolean {
    return this.#members.has(store)
  }

  get members(): number {
    return this.#members.size
  }

  /** False if this reader does not hold all messages after the position. */
  join(store: symbol, after: LogPosition): boolean {
    if (this.#failure !== undefined) return false
    const last = this.#held.findLastIndex(({ position }) => position.sequence <= after.sequence)
    const { epoch, sequence: seq, link } = this.#held[last]?.position ?? this.#floor
    // With another epoch or link it is no position of this log: a reader of its own reports that.
    if (seq !== after.sequence || link !== after.link || epoch !== after.epoch) return false
    this.#members.set(store, this.#released + last + 1)
    return true
  }

  /** Undefined if the store has taken everything that was read. */
  take(store: symbol): IndexedMessage | undefined {
    const next = this.#members.get(store) ?? 0
    const message = this.#held[next - this.#released]
    if (message === undefined) return undefined
    this.#members.set(store, next + 1)
    this.#releaseTaken()
    return message
  }

  /** Reads on. Settles when there may be more to take, when the log cannot be read any more, or after `wake`. */
  more(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    if (!this.#isPulling) void this.#pull()
    return this.#changed.promise
  }

  wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  leave(store: symbol): void {
    this.#members.delete(store)
    this.#releaseTaken()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#log.return()
  }

  async #pull(): Promise<void> {
    this.#isPulling = true
    try {
      const { value, done } = await this.#log.next()
      if (!done) this.#hold(this.#index(value))
    } catch (error) {
      this.#failure = { error }
    }
    this.#isPulling = false
    this.wake()
  }

  #index({ body, position }: LogMessage): IndexedMessage {
    const { chain, generation } = this.#folded
    const set = blameMessage(placeOf(this.#folded, position.sequence), () => indexChangeSet(body))
    if (set.chain !== chain) {
      throw new ChaintapeError('diverged', `CHANGES of chain ${chain} holds a message of chain ${set.chain}`)
    }
    return { set: { ...set, chain: storedName(chain, generation) }, position }
  }

  #hold(message: IndexedMessage): void {
    this.#held.push(message)
    this.#size += sizeOf(message.set)
    while (this.#size > this.#room && this.#held.length > 1) this.#release(1)
    for (const [store, next] of this.#members) if (next < this.#released) this.#members.delete(store)
  }

  #releaseTaken(): void {
    let first = this.#released + this.#held.length
    for (const next of this.#members.values()) first = Math.min(first, next)
    if (first > this.#released) this.#release(first - this.#released)
  }

  #release(count: number): void {
    for (const { set, position } of this.#held.splice(0, count)) {
      this.#size -= sizeOf(set)
      this.#floor = position
    }
    this.#released += count
  }
}

export function placeOf({ chain, generation }: FoldedChain, sequence: number): MessagePlace {
  return { chain, log: changesLogOf(generation), sequence }
}

/** A message without changes takes its place in a batch, too. */
export function sizeOf({ count }: ChangeSetIndex): number {
  return Math.max(1, count)
}
