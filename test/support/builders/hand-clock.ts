type Timer = { readonly at: number; readonly run: () => void }

/** Time that passes when somebody says so, for code that sets timers and looks at the clock by itself. */
export class HandClock {
  #now = 0
  readonly #timers = new Set<Timer>()

  /** While it runs, the program's timers and clock are these. */
  during(run: () => void): void {
    const { setTimeout, clearTimeout } = globalThis
    const { now } = performance
    globalThis.setTimeout = ((wake: () => void, ms = 0) => {
      const timer = { at: this.#now + ms, run: wake }
      this.#timers.add(timer)
      return timer
    }) as unknown as typeof setTimeout
    globalThis.clearTimeout = ((timer: Timer) => this.#timers.delete(timer)) as unknown as typeof clearTimeout
    performance.now = () => this.#now
    try {
      run()
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout })
      performance.now = now
    }
  }

  advance(ms: number): void {
    this.#now += ms
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
      if (timer.at <= this.#now && this.#timers.delete(timer)) timer.run()
    }
  }
}
