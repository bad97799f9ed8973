export type Quantiles = { readonly p50: number; readonly p99: number }

/** Ratio of two neighboring bucket bounds: a reported quantile differs from the exact one by at most 5 %. */
const GROWTH = 1.1
const LOG_GROWTH = Math.log(GROWTH)
/** From 1 ms to 24 hours; shorter and longer delays are in the first and last bucket. */
const BUCKETS = Math.ceil(Math.log(24 * 3_600_000) / LOG_GROWTH) + 1
const SLICES = 10
const SLICE_MS = 30_000

/** Delays of the last five minutes, counted in buckets: a delay costs a few nanoseconds, and the memory is fixed. */
export class RecentDelays {
  readonly #counts = new Uint32Array(SLICES * BUCKETS)
  /** The number of the slice that counts now, since 1970. */
  #slice = 0
  /** The last delay and its bucket: most sockets get a block within the same millisecond. */
  #ms = 0
  #bucket = 0

  /** The span of the quantiles, in seconds. */
  static readonly windowSeconds = (SLICES * SLICE_MS) / 1_000

  add(ms: number, now: number): void {
    this.#advance(now)
    if (ms !== this.#ms) {
      this.#ms = ms
      this.#bucket = bucketOf(ms)
    }
    const at = (this.#slice % SLICES) * BUCKETS + this.#bucket
    this.#counts[at] = (this.#counts[at] as number) + 1
  }

  /** In milliseconds; undefined if there was no delay. */
  quantiles(now: number): Quantiles | undefined {
    this.#advance(now)
    const counts = new Float64Array(BUCKETS)
    let total = 0
    for (const [at, count] of this.#counts.entries()) {
      counts[at % BUCKETS] = (counts[at % BUCKETS] as number) + count
      total += count
    }
    if (total === 0) return undefined
    return { p50: quantile(counts, 0.5 * total), p99: quantile(counts, 0.99 * total) }
  }

  /** Empties the slices that have left the window; all of them if the clock was set back. */
  #advance(now: number): void {
    const slice = Math.floor(now / SLICE_MS)
    if (slice === this.#slice) return
    const oldest = slice - SLICES + 1
    const first = slice < this.#slice ? oldest : Math.max(this.#slice + 1, oldest)
    for (let each = first; each <= slice; each++) {
      const at = (each % SLICES) * BUCKETS
      this.#counts.fill(0, at, at + BUCKETS)
    }
    this.#slice = slice
  }
}

/** The number of a delay's bucket. */
function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0
  return Math.min(Math.ceil(Math.log(ms) / LOG_GROWTH), BUCKETS - 1)
}

/** The middle of the bucket that holds the delay of this rank. */
function quantile(counts: Float64Array, rank: number): number {
  let below = 0
  let bucket = 0
  while (bucket < counts.length - 1) {
    below += counts[bucket] as number
    if (below >= rank) break
    bucket++
  }
  return Math.round(bucket === 0 ? 1 : GROWTH ** (bucket - 0.5))
}
