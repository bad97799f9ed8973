import type { LogPosition } from '../../../domain/log-position.ts'
import { openChangeSet } from '../../../wire/change-codec.ts'
import { ownBytes } from '../../market/own-bytes.ts'
import type { FeedPosition } from '../../market/read-position.ts'
import type { PlacedSet } from '../cursor.ts'

type BufferedSet = {
  readonly origin: FeedPosition
  readonly position: LogPosition
  readonly body: Uint8Array
}

/** Replay buffer: the latest messages of a chain's CHANGES, as bytes, for clients that were disconnected for a moment. */
export class ReplayBuffer {
  readonly #maxBytes: number
  #sets: (BufferedSet | undefined)[] = []
  /** Index of the first one that was not dropped; the array is compacted later. */
  #first = 0
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(origin: FeedPosition, position: LogPosition, body: Uint8Array): void {
    this.#sets.push({ origin, position, body: ownBytes(body) })
    this.#bytes += body.length
    while (this.#bytes > this.#maxBytes && this.#first < this.#sets.length - 1) {
      this.#bytes -= this.#sets[this.#first]?.body.length ?? 0
      this.#sets[this.#first++] = undefined
    }
    if (this.#first * 2 < this.#sets.length) return
    this.#sets = this.#sets.slice(this.#first)
    this.#first = 0
  }

  /** Whether all that follows on this place is here. */
  holds(place: FeedPosition): boolean {
    return this.#indexAfter(place) !== undefined
  }

  /** The sets that follow on a place, up to so many bytes, but one at least; undefined if they are not here. */
  page(place: FeedPosition, maxBytes: number): PlacedSet[] | undefined {
    const index = this.#indexAfter(place)
    if (index === undefined) return undefined
    const page: PlacedSet[] = []
    let bytes = 0
    for (let i = index; i < this.#sets.length && bytes < maxBytes; i++) {
      const { origin, position, body } = this.#sets[i] as BufferedSet
      page.push({ origin, position, set: openChangeSet(body).set })
      bytes += body.length
    }
    return page
  }

  /** The place after the change set with this `seq`, if a set that follows on it is here. */
  placeAt(seq: number): FeedPosition | undefined {
    const index = this.#firstFrom(({ seq: each }) => each, seq)
    const found = this.#sets[index]?.origin
    return found?.seq === seq ? found : undefined
  }

  /** Index of the message right after a position. */
  #indexAfter({ after }: FeedPosition): number | undefined {
    const last = this.#sets.at(-1)?.position
    if (last?.epoch !== after.epoch) return undefined
    // Nothing follows yet.
    if (last.sequence === after.sequence) return last.link === after.link ? this.#sets.length : undefined
    const index = this.#firstFrom((place) => place.after.sequence, after.sequence)
    const found = this.#sets[index]?.origin.after
    return found?.sequence === after.sequence && found.link === after.link ? index : undefined
  }

  /** Binary search: index of the first set whose origin has at least this value. */
  #firstFrom(numberOf: (place: FeedPosition) => number, least: number): number {
    let [low, high] = [this.#first, this.#sets.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (numberOf((this.#sets[middle] as BufferedSet).origin) < least) low = middle + 1
      else high = middle
    }
    return low
  }
}
