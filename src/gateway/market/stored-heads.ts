import type { ChainHead } from '../../domain/chain-head.ts'
import { STORE_NAMES, type StoreName } from '../../store/store-names.ts'

export type ReadHeads = Readonly<Record<StoreName, (chain: string) => Promise<ChainHead | undefined>>>

const NOTHING = -1

/**
 * How far each store has come with a chain, and how far one has to be: what has left the overlay is nowhere else. A store
 * that is further behind than that cannot be read.
 */
export class StoredHeads {
  readonly #chain: string
  readonly #read: ReadHeads
  readonly #seqs: Record<StoreName, number> = { clickhouse: NOTHING, redis: NOTHING }
  /** Reads in flight, shared by concurrent callers. */
  readonly #looks: Partial<Record<StoreName, Promise<ChainHead | undefined> | undefined>> = {}
  #needed = NOTHING

  constructor(chain: string, read: ReadHeads) {
    this.#chain = chain
    this.#read = read
  }

  /** Undefined if the store has nothing of this log. A store that has lost data since fails when it is read. */
  async look(store: StoreName, epoch: string): Promise<ChainHead | undefined> {
    this.#looks[store] ??= this.#read[store](this.#chain).finally(() => {
      this.#looks[store] = undefined
    })
    const head = await this.#looks[store]
    if (head?.position.epoch !== epoch) return undefined
    this.#seqs[store] = Math.max(this.#seqs[store], head.seq)
    return head
  }

  /**
   * The heads of this log in the available stores (at least one), the store that is further behind first.
   * `isAnyEmpty`: one of them has nothing of it; `isForeign`: it has documents of another log.
   */
  async lookAtAll(
    epoch: string,
  ): Promise<{ readonly heads: ChainHead[]; readonly isAnyEmpty: boolean; readonly isForeign: boolean }> {
    const outcomes = await Promise.allSettled(STORE_NAMES.map((store) => this.#read[store](this.#chain)))
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected')
    if (failures.length === outcomes.length) throw failures.at(-1)?.reason
    const heads: ChainHead[] = []
    let isAnyEmpty = false
    let isForeign = false
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') continue
      if (outcome.value?.position.epoch !== epoch) {
        isAnyEmpty = true
        isForeign ||= outcome.value !== undefined
      } else {
        heads.push(outcome.value)
        this.#seqs[STORE_NAMES[index] as StoreName] = outcome.value.seq
      }
    }
    return { heads: heads.sort((a, b) => a.seq - b.seq), isAnyEmpty, isForeign }
  }

  /** Up to this change set nothing is in the overlay. */
  need(seq: number): void {
    this.#needed = Math.max(this.#needed, seq)
  }

  /** Whether this store and the overlay together hold the newest version of everything. */
  isWhole(store: StoreName): boolean {
    return this.has(store, this.#needed)
  }

  has(store: StoreName, seq: number): boolean {
    return this.#seqs[store] >= seq
  }

  /** Every store has what came up to this change set. */
  get common(): number {
    return Math.min(...STORE_NAMES.map((store) => this.#seqs[store]))
  }

  reset(): void {
    for (const store of STORE_NAMES) this.#seqs[store] = NOTHING
    this.#needed = NOTHING
  }
}
