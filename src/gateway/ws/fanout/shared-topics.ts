import type { TopicName } from '../topic.ts'
import type { Source } from './sources.ts'

/** A subscription after its lookup: the sources that exist. */
export type FoundTopic = {
  readonly identity: string
  readonly name: TopicName
  readonly sources: readonly Source[]
}

/** Interns topics with reference counts: sockets with equal subscriptions share one object. */
export class SharedTopics {
  readonly #shared = new Map<string, { readonly topic: FoundTopic; holders: number }>()

  get size(): number {
    return this.#shared.size
  }

  /** Returns the shared topic, if another socket holds an equal one. */
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
    // A later subscription may have replaced it.
    if (known?.topic !== topic || --known.holders > 0) return
    this.#shared.delete(topic.identity)
  }
}

function haveSameKeys(some: readonly Source[], others: readonly Source[]): boolean {
  return some.length === others.length && some.every(({ key }, at) => key === others[at]?.key)
}
