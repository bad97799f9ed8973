/** A reader that has read the head of the last poll this soon follows the chain live. */
const READ_MS = 10_000

/** The reader heard of the blocks up to this one at this time; undefined if they were not live. */
type Announcement = { readonly upTo: number; readonly at: number | undefined }

/**
 * When the reader first heard of the blocks that it has not appended yet. Blocks of a backfill or of a catch-up after a
 * restart are not announced: they count from the first time that the reader has read the head of a moment ago. Afterwards
 * all do, however long the reader takes. Times are Unix milliseconds.
 */
export class Announcements {
  #isLive: boolean
  #open: Announcement[] = []
  #last: { readonly head: number; readonly at: number } | undefined
  readonly #liveMs: number
  readonly #dueSince: number | undefined

  /** `dueSince`: a standby has taken over, and has known since then that blocks are due. */
  constructor(pollMs: number, dueSince?: number) {
    this.#liveMs = pollMs + READ_MS
    this.#dueSince = dueSince
    this.#isLive = dueSince !== undefined
  }

  /** A node returned this head, or announced it, at this time; `tip` is the last block that was appended. */
  hear(head: number, tip: number | undefined, at: number): void {
    const last = this.#last
    const isHeadRead = last !== undefined && tip !== undefined && tip >= last.head
    if (isHeadRead && at - last.at <= this.#liveMs) this.#isLive = true
    const since = last === undefined ? (this.#dueSince ?? at) : at
    this.#last = { head, at }
    // A head of the same height may be of another branch, which was not announced before.
    if (tip !== undefined) this.#drop(tip + 1)
    if (head <= (this.#open.at(-1)?.upTo ?? -1)) return
    this.#open.push({ upTo: head, at: this.#isLive ? since : undefined })
  }

  /** When the reader first heard of this block, which is appended next; undefined if it is not live. */
  of(block: number): number | undefined {
    this.#drop(block)
    return this.#open[0]?.at
  }

  /** Drops what is only about blocks before this one. */
  #drop(block: number): void {
    while (this.#open[0] !== undefined && this.#open[0].upTo < block) this.#open.shift()
  }
}
