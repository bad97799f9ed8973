import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

type Timer = { readonly at: number; readonly order: number; readonly run: () => void }

/** Node reports unhandled rejections once per turn of the event loop, which is too slow for every step. */
const STEPS_PER_TURN = 200

/**
 * Discrete-event clock: when no work is left at the current time, time advances to the next timer. Everything that
 * waits in a simulation, the program included, waits on this clock, so a simulated day costs only its events.
 */
export class VirtualClock {
  now = 0
  #order = 0
  #steps = 0
  /** Binary heap by time, then by insertion. */
  readonly #timers: Timer[] = []

  after(ms: number, run: () => void): void {
    const timer = { at: this.now + ms, order: this.#order++, run }
    let at = this.#timers.push(timer) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(this.#timers[parent] as Timer, timer)) break
      this.#timers[at] = this.#timers[parent] as Timer
      at = parent
    }
    this.#timers[at] = timer
  }

  /** Runs the next timer; false if there is none. */
  async step(): Promise<boolean> {
    const next = this.#pop()
    if (next === undefined) return false
    this.now = next.at
    next.run()
    // Drains the microtasks of the timer before time advances.
    await (++this.#steps % STEPS_PER_TURN === 0 ? timers.setImmediate() : microtasksDrained())
    return true
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => reject(signal?.reason)
      if (signal?.aborted) return aborted()
      signal?.addEventListener('abort', aborted, { once: true })
      this.after(ms, () => {
        signal?.removeEventListener('abort', aborted)
        resolve()
      })
    })
  }

  #pop(): Timer | undefined {
    const first = this.#timers[0]
    const last = this.#timers.pop()
    if (first === undefined || last === undefined || this.#timers.length === 0) return first
    const size = this.#timers.length
    let at = 0
    while (true) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && isBefore(this.#timers[child + 1] as Timer, this.#timers[child] as Timer))
        child++
      if (isBefore(last, this.#timers[child] as Timer)) break
      this.#timers[at] = this.#timers[child] as Timer
      at = child
    }
    this.#timers[at] = last
    return first
  }
}

/** Node runs the tick queue when the microtask queue is empty. */
function microtasksDrained(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/**
 * Replaces the timers and the random numbers of Node, so that the program needs no injected clock and no wait can
 * bypass the simulation.
 */
export function installClock(clock: VirtualClock, random: () => number): void {
  timers.setTimeout = ((ms = 0, value?: unknown, options?: { signal?: AbortSignal }) =>
    clock.sleep(ms, options?.signal).then(() => value)) as typeof timers.setTimeout
  syncBuiltinESMExports()
  globalThis.setImmediate = ((run: () => void) => clock.after(0, run)) as unknown as typeof setImmediate
  performance.now = () => clock.now
  Math.random = random
}
