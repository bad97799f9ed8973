import type { ChangeSet } from '../../../domain/change.ts'
import type { FeedPosition } from '../../market/read-position.ts'
import type { LiveBlock } from '../send/freshness.ts'
import { PushEvent, type PushPlace, type Shape } from '../send/push-event.ts'
import { type Emit, SetPushes } from './set-pushes.ts'
import { SharedTopics } from './shared-topics.ts'
import { SubscribedTopics } from './subscribed-topics.ts'
import { WatchedPairs } from './watched-pairs.ts'

export type Listener = {
  /** Retractions go only to subscribers that ask for them; others receive corrected values only. */
  readonly wantsReorgs: boolean
  /** Shape of the pushes that it is offered. */
  readonly shape: Shape
  offer(key: string, event: PushEvent): void
}

/** The subscriptions by key. Turns each change set into pushes. */
export class Hub {
  readonly watched = new WatchedPairs()
  readonly topics = new SharedTopics()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #heard = new SubscribedTopics()
  readonly #now: () => number
  /** The place after the last set, by chain. */
  readonly #ends = new Map<string, PushPlace>()
  /** Pushes of the set that is being applied. */
  #pushed: PushEvent[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  add(key: string, listener: Listener): void {
    const listeners = this.#listeners.get(key)
    if (listeners !== undefined) {
      listeners.add(listener)
      return
    }
    this.#listeners.set(key, new Set([listener]))
    this.#heard.add(key)
  }

  remove(key: string, listener: Listener): void {
    const listeners = this.#listeners.get(key)
    listeners?.delete(listener)
    if (listeners?.size !== 0) return
    this.#listeners.delete(key)
    this.#heard.remove(key)
  }

  /** Keys with subscribers. */
  get size(): number {
    return this.#listeners.size
  }

  /** The place after the last set of a chain that was offered to subscribers; undefined if none was yet. */
  end(chain: string): PushPlace | undefined {
    return this.#ends.get(chain)
  }

  /** `live`: the block that the set is of, if its pushes are live. */
  apply(set: ChangeSet, origin: FeedPosition, live?: LiveBlock): void {
    const { chain, seq, changes } = set
    this.#ends.set(chain, { chain, seq, origin, published: changes.length })
    const repriced = this.watched.apply(set)
    if (this.#listeners.size === 0) return
    const pushes = new SetPushes(set, origin, this.#heard, this.watched, this.#now(), live)
    let index = 0
    for (const change of changes) pushes.ofChange(change, index++, this.#push)
    pushes.ofPrices(repriced, this.#push)
    pushes.ofQuoteAssets(this.watched.followedOf(set), this.#push)
    const pushed = this.#pushed
    this.#pushed = []
    // By then every socket was written to: that was put into the same queue, before this.
    if (pushed.length > 0) setImmediate(() => evictFrames(pushed))
  }

  readonly #push: Emit = (keys, isReorg, build) => {
    let event: PushEvent | undefined
    let encoded: PushEvent[] | undefined
    let served: Set<Listener> | undefined
    for (const key of keys) {
      const listeners = this.#listeners.get(key)
      if (listeners === undefined) continue
      for (const listener of listeners) {
        if (isReorg && !listener.wantsReorgs) continue
        // One subscription may name a pair and the token whose main pair it is.
        if (served?.has(listener)) continue
        if (keys.length > 1) served = (served ?? new Set()).add(listener)
        const { shape } = listener
        if (event?.shape !== shape) {
          encoded ??= []
          event = encoded.find((each) => each.shape === shape) ?? new PushEvent(build(), shape)
          if (!encoded.includes(event)) encoded.push(event)
        }
        listener.offer(key, event)
      }
    }
    if (encoded !== undefined) this.#pushed.push(...encoded)
  }
}

function evictFrames(events: readonly PushEvent[]): void {
  for (const event of events) event.evictFrames()
}
