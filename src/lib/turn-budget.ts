/** Spent in one turn of the event loop. Refusing and closing a connection takes about a fifth of a millisecond. */
const BUDGET_MS = 3

/**
 * Work of one kind that takes a bounded part of each turn of the event loop, in the order it came. A turn serves every
 * socket that has sent something: without a bound, hundreds of them delay every other client until all are served.
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
