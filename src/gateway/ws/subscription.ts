import { type ChainPlace, formatCursor } from './cursor.ts'
import type { Listener } from './hub.ts'
import type { PushEvent, PushPlace, Shape } from './push-event.ts'
import type { Framer } from './send-queue.ts'
import type { TopicOptions } from './topic.ts'

type Held = { readonly key: string; readonly event: PushEvent }

export type SubscriptionOptions = {
  readonly send: (framer: Framer, key: string, event: PushEvent) => void
  readonly onOverflow: () => void
  readonly maxHeldBytes: number
}

/**
 * One accepted subscribe of one socket. Until it is released it holds pushes back; then it lets through only those
 * that are newer than what was said of the same key. While it catches up with a chain it lets none of it through:
 * they are among what it still has to catch up with.
 */
export class Subscription implements Listener, Framer {
  readonly id: number
  readonly serial: number
  readonly keys = new Set<string>()
  readonly wantsReorgs: boolean
  readonly #shape: Shape
  readonly #options: SubscriptionOptions
  /** What was told last, by chain; only for who asks for cursors. */
  readonly #places: Map<string, ChainPlace> | undefined
  #after: Map<string, number> | undefined
  /** Chains that were caught up with, and how far; those without a place are still being caught up with. */
  #caughtUp: Map<string, ChainPlace | undefined> | undefined
  #held: Held[] | undefined = []
  #heldBytes = 0
  #count = 0

  constructor(id: number, serial: number, { cursor, reorg }: TopicOptions, options: SubscriptionOptions) {
    this.id = id
    this.serial = serial
    this.wantsReorgs = reorg
    this.#shape = reorg ? 'revised' : 'document'
    this.#options = options
    this.#places = cursor ? new Map() : undefined
  }

  /** What was, or is about to be, told of `key` includes everything up to `seq`. */
  skipUpTo(key: string, seq: number): void {
    this.#after ??= new Map()
    this.#after.set(key, seq)
  }

  /** Where a chain stands that nothing was told of yet: part of every cursor. */
  startAt(chain: string, place: ChainPlace): void {
    this.#places?.set(chain, place)
  }

  /** From here on only `tell` tells anything of these chains, until each is caught up with. */
  beginCatchUp(chains: Iterable<string>): void {
    this.#forgetHeld()
    this.#caughtUp = new Map(Array.from(chains, (chain) => [chain, undefined]))
  }

  /** What is pushed of the chain passes again, if it comes after this place. */
  endCatchUp(chain: string, place: ChainPlace): void {
    this.#caughtUp?.set(chain, place)
  }

  release(): void {
    const held = this.#held ?? []
    this.#forgetHeld()
    for (const { key, event } of held) this.offer(key, event)
  }

  offer(key: string, event: PushEvent): void {
    if (this.#held !== undefined) {
      this.#heldBytes += this.size(event)
      if (this.#heldBytes > this.#options.maxHeldBytes) this.#options.onOverflow()
      else this.#held.push({ key, event })
      return
    }
    if (this.#caughtUp !== undefined && !this.#isNews(event.place)) return
    const after = this.#after?.get(key)
    if (after !== undefined) {
      if (event.place.seq <= after) return
      // Sets come in order: from here on every push of this key is newer.
      this.#after?.delete(key)
    }
    this.tell(key, event)
  }

  /** Whatever else is held back. */
  tell(key: string, event: PushEvent): void {
    this.#options.send(this, key, event)
  }

  size(event: PushEvent): number {
    return event.size(this.#shape)
  }

  frameOf(event: PushEvent): Buffer {
    const places = this.#places
    if (places === undefined) return event.frame(this.id, this.#shape)
    places.set(event.place.chain, placeAfter(event.place))
    return event.numberedFrame(this.id, this.#shape, ++this.#count, formatCursor(places))
  }

  #isNews({ chain, origin, told }: PushPlace): boolean {
    if (!this.#caughtUp?.has(chain)) return true
    const place = this.#caughtUp.get(chain)
    if (place === undefined || origin.after.seq < place.after.seq) return false
    if (origin.after.seq === place.after.seq && told <= place.told) return false
    this.#caughtUp.delete(chain)
    if (this.#caughtUp.size === 0) this.#caughtUp = undefined
    return true
  }

  #forgetHeld(): void {
    this.#held = undefined
    this.#heldBytes = 0
  }
}

function placeAfter({ seq, origin, told, event }: PushPlace): ChainPlace {
  const { after, version, time } = origin
  const last = event && { upTo: seq, time: event.time, key: event.key }
  return last === undefined ? { after, version, time, told } : { after, version, time, told, last }
}
