const MAX_UNANSWERED = 50
/** Below the limit of the plan: messages that leave evenly may arrive in bursts. */
const SHARE_OF_LIMIT = 0.9

/** Requests that wait to be sent: within the plan's rate, and with a bounded number of unanswered ones. */
export class Outbox {
  readonly #perSecond: number
  readonly #send: (text: string) => void
  readonly #waiting: (() => string | undefined)[] = []
  #allowance: number
  #refilledAt = Date.now()
  #unanswered = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOpen = true

  constructor(messagesPerSecond: number, send: (text: string) => void) {
    this.#perSecond = Math.max(1, messagesPerSecond * SHARE_OF_LIMIT)
    // `auth` was sent already.
    this.#allowance = this.#perSecond - 1
    this.#send = send
  }

  /** The request is built when its turn comes; `undefined` if it is no longer needed. */
  add(build: () => string | undefined): void {
    this.#waiting.push(build)
    this.#flush()
  }

  answered(): void {
    this.#unanswered = Math.max(0, this.#unanswered - 1)
    this.#flush()
  }

  /** Sends nothing for this long. */
  hold(ms: number): void {
    this.#allowance = Math.min(this.#allowance, -(ms / 1_000) * this.#perSecond)
    this.#refilledAt = Date.now()
  }

  close(): void {
    this.#isOpen = false
    clearTimeout(this.#timer)
  }

  #flush(): void {
    if (!this.#isOpen || this.#timer !== undefined) return
    const now = Date.now()
    this.#allowance = Math.min(
      this.#perSecond,
      this.#allowance + ((now - this.#refilledAt) / 1_000) * this.#perSecond,
    )
    this.#refilledAt = now
    while (this.#waiting.length > 0 && this.#unanswered < MAX_UNANSWERED) {
      if (this.#allowance < 1) {
        this.#wait(((1 - this.#allowance) / this.#perSecond) * 1_000)
        return
      }
      const text = this.#waiting.shift()?.()
      if (text === undefined) continue
      this.#allowance--
      this.#unanswered++
      this.#send(text)
    }
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#flush()
    }, ms)
  }
}
