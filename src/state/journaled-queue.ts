import { type Codec, record, varuint } from '../wire/codec.ts'
import type { JournaledState, Table } from './journaled-state.ts'

type Ends = { readonly first: number; readonly next: number }

const ONLY = 'only'

const endsCodec = record<Ends>({ first: varuint, next: varuint })

/** A FIFO queue in journaled state. A turn costs the same however long the queue is. */
export class JournaledQueue<T> {
  readonly #places: Table<T>
  readonly #ends: Table<Ends>

  constructor(state: JournaledState, name: string, codec: Codec<T>) {
    this.#places = state.table(name, codec)
    this.#ends = state.table(`${name}Ends`, endsCodec)
  }

  get length(): number {
    const { first, next } = this.bounds
    return next - first
  }

  /** The items have the places from `first` up to `next`, without gaps. */
  get bounds(): Ends {
    return this.#ends.get(ONLY) ?? { first: 0, next: 0 }
  }

  at(place: number): T | undefined {
    return this.#places.get(String(place))
  }

  replace(place: number, item: T): void {
    this.#places.put(String(place), item)
  }

  /** The first items, in order. */
  first(count: number): T[] {
    const { first, next } = this.bounds
    const found: T[] = []
    for (let place = first; place < next && found.length < count; place++) {
      const item = this.#places.get(String(place))
      if (item !== undefined) found.push(item)
    }
    return found
  }

  append(item: T): void {
    const { first, next } = this.bounds
    this.#places.put(String(next), item)
    this.#ends.put(ONLY, { first, next: next + 1 })
  }

  removeFirst(): void {
    const { first, next } = this.bounds
    if (first === next) return
    this.#places.delete(String(first))
    this.#ends.put(ONLY, { first: first + 1, next })
  }

  /** Removes the first match among the first `count` items; the items before it keep their order. */
  removeAmong(count: number, isIt: (item: T) => boolean): T | undefined {
    const items = this.first(count)
    const at = items.findIndex(isIt)
    if (at === -1) return undefined
    const { first } = this.bounds
    for (const [index, item] of items.slice(0, at).entries())
      this.#places.put(String(first + index + 1), item)
    this.removeFirst()
    return items[at]
  }

  /** Removes the item at a place. The first item moves there and is returned, unless it is the one removed. */
  removeAt(place: number): T | undefined {
    const { first } = this.bounds
    const moved = place === first ? undefined : this.at(first)
    if (moved !== undefined) this.replace(place, moved)
    this.removeFirst()
    return moved
  }
}
