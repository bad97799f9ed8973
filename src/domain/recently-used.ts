/**
 * Generational cache: retains at least the last `size` used items, and at most twice as many. A full generation starts
 * a new one; items not used during it are evicted with the old one. A use costs one lookup and no linked list.
 */
export class RecentlyUsed<Item> {
  readonly #size: number
  #young = new Map<string, Item>()
  #old = new Map<string, Item>()

  constructor(size: number) {
    this.#size = size
  }

  get(id: string): Item | undefined {
    const item = this.#young.get(id)
    if (item !== undefined) return item
    const older = this.#old.get(id)
    if (older !== undefined) this.#young.set(id, older)
    return older
  }

  set(id: string, item: Item): void {
    this.#young.set(id, item)
  }

  delete(id: string): void {
    this.#young.delete(id)
    this.#old.delete(id)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }

  /** Starts a new generation once the current one is full; nothing else evicts. */
  evict(): void {
    if (this.#young.size < this.#size) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
