import { ChaintapeError } from '../../../domain/errors.ts'
import type { Standing } from '../../../log/chain-log.ts'
import { guardNats } from '../../../log/guard-nats.ts'
import { openChangeSet } from '../../../wire/change-codec.ts'
import type { FeedPosition } from '../../market/read-position.ts'
import type { ChainPlace, PlacedSet } from '../cursor.ts'
import type { ReplayBuffer } from './replay-buffer.ts'
import type { ReplayedLog, ReplayedLogs } from './replayed-logs.ts'
import { translatePlace } from './translate-place.ts'

export type LogReplayOptions = {
  readonly recent: ReadonlyMap<string, ReplayBuffer>
  readonly logs: ReplayedLogs
  /** The end of the feed of a chain. */
  readonly end: (chain: string) => FeedPosition
  readonly signal: AbortSignal
  readonly pageBytes?: number
}

/** A replay buffers this much, or one change set, per subscription until the client reads it. */
const PAGE_BYTES = 256 * 1_024
/** Reads of the log at once: each holds some of it in memory. */
const MAX_READS = 4

/** Replays the change sets that a client missed: from the replay buffer if it still has them, else from the log. */
export class LogReplay {
  readonly #options: LogReplayOptions
  readonly #queue: (() => void)[] = []
  #reads = 0

  constructor(options: LogReplayOptions) {
    this.#options = options
  }

  /** The place in the log of the served generation; undefined if that is not known. */
  async translate(chain: string, place: ChainPlace): Promise<ChainPlace | undefined> {
    const { logs, recent, end, signal } = this.#options
    const served = this.#log(chain)
    if (served.epoch === place.after.epoch) return place
    const placeAt = (seq: number): FeedPosition | undefined =>
      end(chain).seq === seq ? end(chain) : recent.get(chain)?.placeAt(seq)
    return guardNats(async () => {
      const source = await logs.ofEpoch(chain, place.after.epoch)
      return source && translatePlace(place, { source, served, placeAt, end: () => end(chain).seq, signal })
    })
  }

  /** Whether everything after a place can still be read. */
  async locate(chain: string, place: FeedPosition): Promise<Standing> {
    if (this.#options.recent.get(chain)?.holds(place)) return 'held'
    return guardNats(() => this.#log(chain).locate(place.after))
  }

  /** Whether the log ends before what this gateway has read from it: NATS lost messages, which the engine publishes again. */
  async hasLostTail(chain: string): Promise<boolean> {
    const last = await guardNats(() => this.#log(chain).lastSequence())
    return last < this.#options.end(chain).after.sequence
  }

  /** The sets that follow on a place, some of them: none if there are none yet, or while the log lacks its tail. */
  async page(chain: string, place: FeedPosition): Promise<PlacedSet[]> {
    const { recent, pageBytes = PAGE_BYTES } = this.#options
    const page = recent.get(chain)?.page(place, pageBytes)
    if (page !== undefined) return page
    await this.#turn()
    try {
      return await guardNats(() => this.#readLog(chain, place, pageBytes))
    } finally {
      this.#reads--
      this.#queue.shift()?.()
    }
  }

  async #readLog(chain: string, place: FeedPosition, maxBytes: number): Promise<PlacedSet[]> {
    const { signal, logs } = this.#options
    // The chain may have switched to another generation since the place was looked up.
    const log = (await logs.ofEpoch(chain, place.after.epoch)) ?? this.#log(chain)
    const end = await log.lastSequence()
    const page: PlacedSet[] = []
    if (place.after.sequence >= end) return page
    let origin: FeedPosition = { after: place.after, seq: place.seq, time: place.time }
    let bytes = 0
    for await (const { body, position } of log.read({
      after: place.after,
      signal,
      readAheadBytes: maxBytes,
    })) {
      const set = openChangeSet(body).set
      page.push({ origin, position, set })
      bytes += body.length
      if (bytes >= maxBytes || position.sequence >= end) return page
      origin = { after: position, seq: set.seq, time: set.head.time }
    }
    throw new ChaintapeError('internal', 'the replay ended before the end of the log')
  }

  #log(chain: string): ReplayedLog {
    const log = this.#options.logs.get(chain)
    if (log === undefined) throw new ChaintapeError('internal', `chain ${chain} is not followed`)
    return log
  }

  async #turn(): Promise<void> {
    while (this.#reads >= MAX_READS) {
      await new Promise<void>((resolve) => {
        this.#queue.push(resolve)
      })
    }
    this.#reads++
  }
}
