import { setTimeout as sleep } from 'node:timers/promises'

/** Rate limit: rings in quick succession end at most one pause per interval. */
const MIN_PAUSE_MS = 50

/** Ends a pause early. A ring only hints that there may be something new. */
export class Doorbell {
  /** When it first rang since the last wait, in Unix milliseconds. */
  #rungAt: number | undefined
  #waiting: (() => void) | undefined

  ring(): void {
    this.#rungAt ??= Date.now()
    this.#waiting?.()
  }

  /** Waits until it rings, or has rung since the last wait, and at most this long. Returns when it first rang. */
  async wait(atMostMs: number, signal: AbortSignal): Promise<number | undefined> {
    const minMs = Math.min(MIN_PAUSE_MS, atMostMs)
    await pause(minMs, signal)
    if (this.#rungAt === undefined && !signal.aborted) {
      const rung = new AbortController()
      this.#waiting = () => rung.abort()
      await pause(atMostMs - minMs, AbortSignal.any([signal, rung.signal]))
      this.#waiting = undefined
    }
    const rungAt = this.#rungAt
    this.#rungAt = undefined
    return rungAt
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // It rejects when the pause was ended early, which is a normal end.
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
