import type { Outbox } from '../../src/lib/outbox.ts'

/** An outbox that outlives its process but retains only so many frames. */
export class MemoryOutbox implements Outbox {
  readonly #maxFrames: number
  #frames = new Map<number, Uint8Array>()
  #last = 0
  #epoch = ''
  hasEvicted = false

  constructor(maxFrames: number) {
    this.#maxFrames = maxFrames
  }

  add(epoch: string, seq: number, frame: Uint8Array): void {
    this.#epoch = epoch
    const retained = this.#frames.get(seq)
    if (retained !== undefined && Buffer.compare(retained, frame) === 0) return
    if (this.#frames.size > 0 && (seq > this.#last + 1 || (seq <= this.#last && retained === undefined)))
      this.#frames.clear()
    for (let later = seq; later <= this.#last; later++) this.#frames.delete(later)
    this.#frames.set(seq, Uint8Array.from(frame))
    this.#last = seq
    if (this.#frames.size <= this.#maxFrames) return
    this.hasEvicted = true
    this.#frames.delete(seq - this.#frames.size + 1)
  }

  get(_epoch: string, seq: number): Uint8Array | undefined {
    return this.#frames.get(seq)
  }

  oldest(): { epoch: string; sequence: number } | undefined {
    const [sequence] = this.#frames.keys()
    return sequence === undefined ? undefined : { epoch: this.#epoch, sequence }
  }

  async flushed(): Promise<void> {}
}
