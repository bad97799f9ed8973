import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

type Due = { readonly at: number; readonly order: number; readonly run: () => void }

/** Node reports unhandled rejections only when its event loop turns; a turn is not cheap. */
const STEPS_PER_TURN = 200

/**
 * Time that passes only when nothing is left to do at the present moment. Whatever takes time in a simulation
 * is put on this clock, the waiting of the program included, so that a day takes no longer than its events.
 */
export class VirtualClock {
  now = 0
  #order = 0
  #steps = 0
  /** A heap: the next one due is first; of two due at once, the one that was put first. */
  readonly #due: Due[] = []

  after(ms: number, run: () => void): void {
    const due = { at: this.now + ms, order: this.#order++, run }
    let at = this.#due.push(due) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(this.#due[parent] as Due, due)) break
      this.#due[at] = this.#due[parent] as Due
      at = parent
    }
    this.#due[at] = due
  }

  /** Lets everything happen that is due next; false if nothing is. */
  async step(): Promise<boolean> {
    const next = this.#pop()
    if (next === undefined) return false
    this.now = next.at
    next.run()
    // All that follows from it without any waiting happens before time goes on.
    await (++this.#steps % STEPS_PER_TURN === 0 ? timers.setImmediate() : microtasksDone())
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

  #pop(): Due | undefined {
    const first = this.#due[0]
    const last = this.#due.pop()
    if (first === undefined || last === undefined || this.#due.length === 0) return first
    const size = this.#due.length
    let at = 0
    while (true) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && isBefore(this.#due[child + 1] as Due, this.#due[child] as Due)) child++
      if (isBefore(last, this.#due[child] as Due)) break
      this.#due[at] = this.#due[child] as Due
      at = child
    }
    this.#due[at] = last
    return first
  }
}

/** The tick queue comes after all microtasks, those included that they make themselves. */
function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/**
 * From now on the program waits on this clock and draws these numbers: its sources need no seam for that, and
 * a wait that is added later is on the clock by itself.
 */
export function takeOver(clock: VirtualClock, draw: () => number): void {
  timers.setTimeout = ((ms = 0, value?: unknown, options?: { signal?: AbortSignal }) =>
    clock.sleep(ms, options?.signal).then(() => value)) as typeof timers.setTimeout
  syncBuiltinESMExports()
  globalThis.setImmediate = ((run: () => void) => clock.after(0, run)) as unknown as typeof setImmediate
  performance.now = () => clock.now
  Math.random = draw
}
