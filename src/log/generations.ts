import {
  type ChainGenerations,
  decodeGenerations,
  encodeGenerations,
  FIRST_GENERATIONS,
} from '../domain/generation.ts'
import type { Common } from '../lib/common.ts'
import type { LatestValue, LatestValues } from './latest-values.ts'

type Entry = { readonly seq: number; readonly time: number; readonly found: ChainGenerations | Error }

/** Which generations of each chain exist, and which one is served: loaded before any is opened, then followed. */
export class Generations {
  readonly #entries = new Map<string, Entry>()
  readonly #bucket: LatestValues
  readonly #logger: Common['logger']
  readonly #listeners: ((chain: string) => void)[] = []

  private constructor(bucket: LatestValues, logger: Common['logger']) {
    this.#bucket = bucket
    this.#logger = logger
  }

  /** Follows the bucket GENERATIONS until the process ends or `closed` aborts. */
  static async open(bucket: LatestValues, common: Common, closed: AbortSignal): Promise<Generations> {
    const generations = new Generations(bucket, common.logger)
    const signal = AbortSignal.any([common.shutdown.signal, closed])
    await new Promise<void>((resolve) => {
      const onValue = (value: LatestValue): void => generations.#take(value)
      void bucket.watch({ signal, onValue, onCurrent: resolve }).then(resolve)
    })
    return generations
  }

  /** Throws if the entry of the chain cannot be read. */
  of(chain: string): ChainGenerations {
    const { found = FIRST_GENERATIONS } = this.#entries.get(chain) ?? {}
    if (found instanceof Error) throw found
    return found
  }

  /** The same, but undefined if the entry cannot be read: that was logged. */
  find(chain: string): ChainGenerations | undefined {
    const { found = FIRST_GENERATIONS } = this.#entries.get(chain) ?? {}
    return found instanceof Error ? undefined : found
  }

  /** Calls back with the chain of each entry that changed. */
  onChange(listener: (chain: string) => void): void {
    this.#listeners.push(listener)
  }

  /** The entry as NATS has it now; undefined if it has none. */
  async stored(chain: string): Promise<ChainGenerations | undefined> {
    const latest = await this.#bucket.find(chain)
    if (latest === undefined) return undefined
    this.#take(latest)
    return this.of(chain)
  }

  /**
   * Writes what `change` makes of the latest entry, unless it returns undefined; `isStored` is false if NATS has none.
   * Resolves once this process sees it.
   */
  async change(
    chain: string,
    change: (now: ChainGenerations, isStored: boolean) => ChainGenerations | undefined,
  ): Promise<ChainGenerations> {
    for (;;) {
      const latest = await this.#bucket.find(chain)
      if (latest !== undefined) this.#take(latest)
      const now = this.of(chain)
      const next = change(now, latest !== undefined)
      if (next === undefined) return now
      if (!(await this.#bucket.put(chain, encodeGenerations(next), latest?.seq ?? 0))) continue
      const written = await this.#bucket.find(chain)
      if (written !== undefined) this.#take(written)
      return next
    }
  }

  #take({ name: chain, seq, time, body }: LatestValue): void {
    const known = this.#entries.get(chain)
    // A value arrives twice if it was also read directly. In a stream that was created again, sequences begin anew.
    if (known !== undefined && (time < known.time || (time === known.time && seq <= known.seq))) return
    try {
      this.#entries.set(chain, { seq, time, found: decodeGenerations(body) })
    } catch (error) {
      this.#entries.set(chain, { seq, time, found: error as Error })
      this.#logger.error({ err: error, chain }, 'Unreadable entry of GENERATIONS')
    }
    for (const listener of this.#listeners) listener(chain)
  }
}
