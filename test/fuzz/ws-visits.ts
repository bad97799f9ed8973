const MAX_GONE = 1_000
/** Late answers are reported by another thread. */
const REPORT_DELAY_MS = 100

/** The clients that were connected when the honest client had to wait: one of them may be the cause. */
export class Visits {
  readonly #present = new Set<number>()
  #gone: { readonly index: number; readonly at: number }[] = []
  /** For each client, the longest wait while it was connected. */
  readonly #lateMs = new Map<number, number>()

  begin(index: number): void {
    this.#present.add(index)
  }

  end(index: number): void {
    this.#present.delete(index)
    this.#gone.push({ index, at: performance.now() })
    if (this.#gone.length > MAX_GONE) this.#gone = this.#gone.slice(-MAX_GONE / 2)
  }

  get present(): number[] {
    return [...this.#present]
  }

  /** The client that has been connected longest; if none is, the first of all. */
  get eldest(): number {
    return this.present[0] ?? 0
  }

  noteLate(ms: number): void {
    const since = performance.now() - ms - REPORT_DELAY_MS
    const gone = this.#gone.filter(({ at }) => at > since).map(({ index }) => index)
    for (const index of [...this.#present, ...gone]) {
      this.#lateMs.set(index, Math.max(ms, this.#lateMs.get(index) ?? 0))
    }
  }

  /** Those of the longest waits. */
  suspects(most: number): number[] {
    const all = [...this.#lateMs].sort(([, a], [, b]) => b - a)
    return all.slice(0, most).map(([index]) => index)
  }
}
