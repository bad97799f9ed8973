/**
 * Keeps at least the last `size` items that were used, and at most twice as many: a new generation begins when
 * one is full, and what is not used during it is let go with the one before. So a use costs one look-up, no list.
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

  /** Nothing is ever let go but here. */
  letGo(): void {
    if (this.#young.size < this.#size) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
