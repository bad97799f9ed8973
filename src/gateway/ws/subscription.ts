import type { Listener, Push } from './hub.ts'

type Held = { readonly key: string; readonly push: Push }

/**
 * One accepted subscribe of one socket. While its snapshot is being read it holds pushes back; released, it
 * lets through only those that are newer than what the snapshot said of the same key.
 */
export class Subscription implements Listener {
  readonly id: number
  readonly keys = new Set<string>()
  readonly #send: (push: Push) => void
  readonly #onOverflow: () => void
  readonly #maxHeldBytes: number
  readonly #after = new Map<string, number>()
  #held: Held[] | undefined
  #heldBytes = 0

  constructor(
    id: number,
    options: { send: (push: Push) => void; onOverflow: () => void; maxHeldBytes: number },
  ) {
    this.id = id
    this.#send = options.send
    this.#onOverflow = options.onOverflow
    this.#maxHeldBytes = options.maxHeldBytes
  }

  hold(): void {
    this.#held ??= []
  }

  /** What was, or is about to be, told of `key` includes everything up to `seq`. */
  skipUpTo(key: string, seq: number): void {
    this.#after.set(key, seq)
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    this.#heldBytes = 0
    for (const { key, push } of held) this.offer(key, push)
  }

  offer(key: string, push: Push): void {
    if (this.#held !== undefined) {
      this.#heldBytes += push.frame.length
      if (this.#heldBytes > this.#maxHeldBytes) this.#onOverflow()
      else this.#held.push({ key, push })
      return
    }
    const after = this.#after.get(key)
    if (after !== undefined) {
      if (push.seq <= after) return
      // Sets come in order: from here on every push of this key is newer.
      this.#after.delete(key)
    }
    this.#send(push)
  }
}
