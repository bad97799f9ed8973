import { JoinedFrames } from './frame.ts'
import type { SendQueue } from './send-queue.ts'

/** Writes to every socket once after a turn's work, however much of it there was. */
export class Flusher {
  #woken: SendQueue[] = []

  wake(queue: SendQueue): void {
    if (this.#woken.length === 0) setImmediate(() => this.#flush())
    this.#woken.push(queue)
  }

  #flush(): void {
    const woken = this.#woken
    this.#woken = []
    const joined = new JoinedFrames()
    for (const queue of woken) queue.flush(joined)
  }
}
