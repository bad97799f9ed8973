import type { KeyKind } from '../topic.ts'

/**
 * The subscribed topics index: addresses with subscribers, by kind of key. Skips building topic keys for addresses nobody
 * subscribed to.
 */
export class SubscribedTopics {
  readonly #byKind = new Map<string, Map<string, number>>()

  constructor(keys: Iterable<string> = []) {
    for (const key of keys) this.add(key)
  }

  has(kind: KeyKind, address: string): boolean {
    return this.#byKind.get(kind)?.has(address) === true
  }

  /** Once for each key. */
  add(key: string): void {
    const { kind, address } = partsOf(key)
    const counts = this.#byKind.get(kind) ?? new Map<string, number>()
    this.#byKind.set(kind, counts.set(address, (counts.get(address) ?? 0) + 1))
  }

  remove(key: string): void {
    const { kind, address } = partsOf(key)
    const counts = this.#byKind.get(kind)
    const left = (counts?.get(address) ?? 0) - 1
    if (left > 0) counts?.set(address, left)
    else counts?.delete(address)
  }
}

function partsOf(key: string): { kind: string; address: string } {
  return { kind: key.slice(0, key.indexOf('/')), address: key.slice(key.lastIndexOf('/') + 1) }
}
