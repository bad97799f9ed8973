type Mark = { readonly end: number; readonly atMs: number }

/**
 * How long a role has been behind its input. Block times do not measure this, because they age on a chain without new
 * blocks. So the clock remembers when each end of the input was first seen, until the role has reached it.
 */
export class LagClock {
  /** Oldest first. */
  readonly #marks: Mark[] = []
  readonly #nowMs: () => number
  #position = (): number => 0

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * The input ends at `end`. `seconds` calls `position` again, because a role may catch up long before the next
   * `observe`.
   */
  observe(end: number, position: () => number): void {
    this.#position = position
    this.#dropReached()
    if (end > Math.max(position(), this.#marks.at(-1)?.end ?? 0)) {
      this.#marks.push({ end, atMs: this.#nowMs() })
    }
    // A recreated log ends earlier.
    while ((this.#marks.at(-1)?.end ?? 0) > end) this.#marks.pop()
  }

  get seconds(): number {
    this.#dropReached()
    const [oldest] = this.#marks
    return oldest === undefined ? 0 : (this.#nowMs() - oldest.atMs) / 1_000
  }

  #dropReached(): void {
    const position = this.#position()
    const ahead = this.#marks.findIndex((mark) => mark.end > position)
    this.#marks.splice(0, ahead === -1 ? this.#marks.length : ahead)
  }
}
