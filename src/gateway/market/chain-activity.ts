import type { ChangeSet } from '../../domain/change.ts'

/** What a chain did since this gateway began to follow it. */
export type ChainActivity = {
  readonly lastMinute: { readonly blocks: number; readonly trades: number }
  readonly reorgs: {
    readonly count: number
    readonly deepest: number
    /** Unix seconds. */
    readonly lastAt: number | undefined
  }
}

type Second = { readonly second: number; blocks: number; trades: number }

const WINDOW_SECONDS = 60

/** Throughput and reorgs of each chain, by the clock of this gateway. */
export class ChainActivities {
  readonly #now: () => number
  readonly #chains = new Map<string, Counter>()

  /** `now` in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  apply(set: Pick<ChangeSet, 'chain' | 'cause' | 'head' | 'changes'>): void {
    const counter = this.#chains.get(set.chain) ?? new Counter()
    this.#chains.set(set.chain, counter)
    counter.apply(set, this.#seconds())
  }

  of(chain: string): ChainActivity | undefined {
    return this.#chains.get(chain)?.activity(this.#seconds())
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1_000)
  }
}

class Counter {
  #seconds: Second[] = []
  #head: number | undefined
  #count = 0
  #deepest = 0
  #lastAt: number | undefined

  apply({ cause, head, changes }: Pick<ChangeSet, 'cause' | 'head' | 'changes'>, now: number): void {
    if (cause === 'block') {
      const second = this.#second(now)
      second.blocks += 1
      for (const { type } of changes) if (type === 'trade') second.trades += 1
    }
    if (cause === 'undo' && this.#head !== undefined && head.number < this.#head) {
      this.#count += 1
      this.#deepest = Math.max(this.#deepest, this.#head - head.number)
      this.#lastAt = now
    }
    this.#head = head.number
  }

  activity(now: number): ChainActivity {
    const recent = this.#seconds.filter(({ second }) => second > now - WINDOW_SECONDS)
    const sum = (of: 'blocks' | 'trades'): number => recent.reduce((total, second) => total + second[of], 0)
    return {
      lastMinute: { blocks: sum('blocks'), trades: sum('trades') },
      reorgs: { count: this.#count, deepest: this.#deepest, lastAt: this.#lastAt },
    }
  }

  #second(now: number): Second {
    const last = this.#seconds.at(-1)
    if (last?.second === now) return last
    const next = { second: now, blocks: 0, trades: 0 }
    this.#seconds = [...this.#seconds.filter(({ second }) => second > now - WINDOW_SECONDS), next]
    return next
  }
}
