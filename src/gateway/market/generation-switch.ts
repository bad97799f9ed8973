import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangeFeedFollower } from './change-feed-follower.ts'

export type SwitchOptions = {
  readonly signal: AbortSignal
  /** The served generation is not kept up to date any longer: the next one is served even if change sets are skipped. */
  readonly isOverdue: () => boolean
}

type SwitchParts = SwitchOptions & {
  readonly next: ChangeFeedFollower
  readonly served: () => ChangeFeedFollower
  /** Called between two change sets, when the next generation takes the place of the served one. */
  readonly onReady: (hasGap: boolean) => void
}

/** The stores may become whole without a new change set. */
const LOOK_MS = 50
/** Nothing is pushed meanwhile: a turn of a busy gateway for each change set would delay the switch. */
const MAX_BUSY_MS = 5

/**
 * Follows the next generation of a chain beside the served one, until both have taken the same change set and the stores
 * have what the next one's overlay lacks. Whichever is ahead waits there: the served one in its log, the next one by a
 * pause.
 */
export class GenerationSwitch {
  readonly #parts: SwitchParts
  readonly #ended = new AbortController()
  #paused = new AbortController()
  #isStarted = false

  constructor(parts: SwitchParts) {
    this.#parts = parts
  }

  /** Resolves once the next generation is served and nothing is read here any more, or the signal aborts. */
  async run(): Promise<void> {
    const { next, served } = this.#parts
    const signal = AbortSignal.any([this.#parts.signal, this.#ended.signal])
    const look = setInterval(() => this.check(), LOOK_MS)
    // Not awaited: a store that hangs must not delay the switch.
    void next.prune(signal, () => undefined)
    try {
      while (!signal.aborted) {
        this.#paused = new AbortController()
        await next.follow({
          signal: AbortSignal.any([signal, this.#paused.signal]),
          onStarted: () => {
            this.#isStarted = true
            this.check()
          },
          onCaughtUp: () => undefined,
          onDropped: () => undefined,
          maxBusyMs: MAX_BUSY_MS,
        })
        while (!signal.aborted && next.reads.feed.seq > served().reads.feed.seq)
          await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
      }
    } finally {
      clearInterval(look)
      this.#ended.abort()
    }
  }

  /** To be called after each change set of either generation. */
  check(): void {
    const { next, signal, isOverdue, onReady } = this.#parts
    if (!this.#isStarted || signal.aborted || this.#ended.signal.aborted) return
    const served = this.#parts.served()
    const ahead = next.reads.feed.seq - served.reads.feed.seq
    if (ahead > 0) this.#paused.abort()
    if (ahead < 0 || !next.isAvailable) return
    // Answers must not become older.
    const isEqual = ahead === 0 && next.reads.end.seq >= served.reads.end.seq
    if (!isEqual && served.isAvailable && !isOverdue()) return
    this.#ended.abort()
    onReady(ahead > 0)
  }
}
