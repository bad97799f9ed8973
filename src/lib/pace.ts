const MARK_EVERY_MS = 5_000
const MAX_MARKS = 12

type Mark = { readonly done: number; readonly atMs: number }

/** Speed of a long task: the mean of the last minute, because its steps may differ in size. */
export class Pace {
  /** Oldest first. */
  readonly #marks: Mark[] = []

  observe(done: number, atMs: number): void {
    const last = this.#marks.at(-1)
    if (last !== undefined && atMs - last.atMs < MARK_EVERY_MS) return
    this.#marks.push({ done, atMs })
    if (this.#marks.length > MAX_MARKS) this.#marks.shift()
  }

  perSecond(done: number, atMs: number): number {
    const [oldest] = this.#marks
    if (oldest === undefined) return 0
    return ((done - oldest.done) * 1_000) / Math.max(1, atMs - oldest.atMs)
  }

  /** Undefined without an estimate. */
  secondsLeft(done: number, total: number, atMs: number): number | undefined {
    if (done >= total) return 0
    const perSecond = this.perSecond(done, atMs)
    return perSecond > 0 ? Math.ceil((total - done) / perSecond) : undefined
  }
}
