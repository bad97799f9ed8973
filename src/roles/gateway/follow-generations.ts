import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainGenerations } from '../../domain/generation.ts'
import type { MarketView } from '../../gateway/market/market-view.ts'
import type { ServedLogs } from '../../gateway/market/served-logs.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Generations } from '../../log/generations.ts'

export type FollowGenerationsParts = {
  readonly chains: readonly string[]
  readonly generations: Pick<Generations, 'of' | 'onChange'>
  readonly served: ServedLogs
  readonly view: Pick<MarketView, 'switchTo'>
  readonly onSwitched: (chain: string) => void
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** A switch that takes longer is logged. */
const LATE_MS = 5_000
const RETRY_MS = 1_000

/** Serves the generation of each chain that the record names. Returns the reasons why one is not served yet. */
export function followGenerations(parts: FollowGenerationsParts): { details(): string[] } {
  const followers = parts.chains.map((chain) => new ChainSwitcher(chain, parts))
  parts.generations.onChange((chain) => {
    for (const follower of followers) if (follower.chain === chain) follower.onChange()
  })
  for (const follower of followers) void follower.run()
  return { details: () => followers.flatMap(({ problem }) => problem ?? []) }
}

class ChainSwitcher {
  readonly chain: string
  problem: string | undefined
  readonly #parts: FollowGenerationsParts
  #changed = new AbortController()

  constructor(chain: string, parts: FollowGenerationsParts) {
    this.chain = chain
    this.#parts = parts
  }

  onChange(): void {
    this.#changed.abort()
  }

  async run(): Promise<void> {
    const { signal } = this.#parts
    while (!signal.aborted) {
      this.#changed = new AbortController()
      const changed = AbortSignal.any([signal, this.#changed.signal])
      try {
        const isServed = await this.#serve(changed)
        if (isServed && !changed.aborted) await once(changed, 'abort')
      } catch (error) {
        // The record says something else by now.
        if (changed.aborted) continue
        this.#report(error)
        await sleep(RETRY_MS, undefined, { signal: changed }).catch(() => undefined)
      }
    }
  }

  /** True if the generation of the record is served. */
  async #serve(changed: AbortSignal): Promise<boolean> {
    const { chain } = this
    const { generations, served, view, onSwitched, logger } = this.#parts
    const { serving } = generations.of(chain)
    const { number } = serving
    const before = served.generationOf(chain).number
    if (number === before) {
      this.problem = undefined
      return true
    }
    const late = setTimeout(() => this.#report(new Error('it has not caught up yet')), LATE_MS)
    try {
      const log = await served.open(chain, serving)
      await view.switchTo(
        chain,
        { generation: serving, log },
        { signal: changed, isOverdue: () => !isKeptUp(generations.of(chain), before) },
      )
    } finally {
      clearTimeout(late)
    }
    if (served.generationOf(chain).number === number) {
      logger.info({ chain, generation: number, before }, 'Generation switched')
      onSwitched(chain)
    }
    return false
  }

  #report(error: unknown): void {
    const { chain } = this
    const { served, logger } = this.#parts
    const reason = error instanceof Error ? error.message : String(error)
    const problem = `${chain}: generation ${served.generationOf(chain).number} is still served: ${reason}`
    if (problem !== this.problem) logger.warn({ err: error, chain }, 'Generation not switched yet')
    this.problem = problem
  }
}

/** Whether engines and writers continue the generation that was served before. */
function isKeptUp({ retiring }: ChainGenerations, number: number): boolean {
  return retiring?.number === number && retiring.until > Date.now() / 1_000
}
