/** Spent in one turn of the event loop. Refusing and closing a connection takes about a fifth of a millisecond. */
const BUDGET_MS = 3

/**
 * Work for clients that have not given a key: all of them together take a bounded part of each turn of the event loop.
 * Otherwise hundreds that send something at the same moment delay every other client until all of them are served.
 */
export class TurnBudget {
  readonly #waiting: (() => void)[] = []
  #isRunning = false
  #turnBegan = 0

  /** `work` runs later, never at once. */
  add(work: () => void): void {
    this.#waiting.push(work)
    if (this.#isRunning) return
    this.#isRunning = true
    setImmediate(this.#beginTurn)
  }

  readonly #beginTurn = (): void => {
    this.#turnBegan = performance.now()
    this.#next()
  }

  readonly #next = (): void => {
    const work = this.#waiting.shift()
    if (work === undefined) {
      this.#isRunning = false
      return
    }
    work()
    // Closing a socket continues in ticks: they run before the next work and count, too.
    if (performance.now() - this.#turnBegan < BUDGET_MS) process.nextTick(this.#next)
    else setImmediate(this.#beginTurn)
  }
}
