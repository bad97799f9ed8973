import { JoinedFrames } from './frame.ts'
import type { SendQueue } from './send-queue.ts'

/** Reading the clock takes about as long as all else that a write is counted by; so many writes take under a millisecond. */
const WRITES_PER_CLOCK = 32

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
    let now = 0
    for (const [index, queue] of woken.entries()) {
      if (index % WRITES_PER_CLOCK === 0) now = Date.now()
      queue.flush(joined, now)
    }
  }
}
