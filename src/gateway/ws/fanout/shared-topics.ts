import type { TopicName } from '../topic.ts'
import type { Source } from './sources.ts'

/** The subject of a subscription, as far as it exists. */
export type FoundTopic = {
  readonly identity: string
  readonly name: TopicName
  readonly sources: readonly Source[]
}

/** Many sockets subscribe to the same: what that is about is kept once, for as long as one of them does. */
export class SharedTopics {
  readonly #shared = new Map<string, { readonly topic: FoundTopic; holders: number }>()

  get size(): number {
    return this.#shared.size
  }

  /** Gives the one that others hold already, if it is the same. */
  hold(found: FoundTopic): FoundTopic {
    const known = this.#shared.get(found.identity)
    // A pair that did not exist at the first subscription may exist now.
    if (known === undefined || !haveSameKeys(known.topic.sources, found.sources)) {
      this.#shared.set(found.identity, { topic: found, holders: 1 })
      return found
    }
    known.holders++
    return known.topic
  }

  release(topic: FoundTopic): void {
    const known = this.#shared.get(topic.identity)
    // Another one may have taken its place.
    if (known?.topic !== topic || --known.holders > 0) return
    this.#shared.delete(topic.identity)
  }
}

function haveSameKeys(some: readonly Source[], others: readonly Source[]): boolean {
  return some.length === others.length && some.every(({ key }, at) => key === others[at]?.key)
}
