import type { Deployed, DexRegistry } from '../dex/registry.ts'
import type { Pricing } from '../domain/envelope.ts'
import type { JournaledState, Table } from '../state/journaled-state.ts'
import { NONE } from '../state/slot-index.ts'
import type { PairTable } from './pair/pair-table.ts'
import type { PairView } from './pair/pair-view.ts'
import type { Pool } from './pool/pool.ts'
import { poolCodec } from './pool/pool-codec.ts'

/** A pool opened since rows were last evicted, with everything that its events refer to. */
export class OpenedPool implements Pool {
  readonly address: string
  readonly factory: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  readonly goalRaw: bigint | undefined
  /** Undefined for a pool of more than two tokens. */
  readonly pair: PairView | undefined
  askedSlot = NONE
  #exchange: Deployed | undefined
  #exchangeIn = NONE

  constructor({ address, factory, tokens, pricing, goalRaw }: Pool, pair: PairView | undefined) {
    this.address = address
    this.factory = factory
    this.tokens = tokens
    this.pricing = pricing
    this.goalRaw = goalRaw
    this.pair = pair
  }

  /** The exchange it belongs to at a given block. */
  exchangeIn(block: number, registry: DexRegistry): Deployed | undefined {
    if (this.#exchangeIn !== block) {
      this.#exchange = registry.deploymentOf(this.factory, block)
      this.#exchangeIn = block
    }
    return this.#exchange
  }
}

/** By address. */
export class PoolTable {
  readonly #pools: Table<Pool>
  readonly #pairs: PairTable
  readonly #opened = new Map<string, OpenedPool>()

  constructor(state: JournaledState, pairs: PairTable) {
    this.#pools = state.table('pool', poolCodec)
    this.#pairs = pairs
  }

  has(address: string): boolean {
    return this.#opened.has(address) || this.#pools.get(address) !== undefined
  }

  put(pool: Pool): void {
    this.#pools.put(pool.address, pool)
  }

  /** Opens a pool. If it is to have a pair, the pair must exist. */
  open(address: string): OpenedPool | undefined {
    const opened = this.#opened.get(address)
    if (opened !== undefined) return opened
    const pool = this.#pools.get(address)
    if (pool === undefined) return undefined
    const found = new OpenedPool(pool, pool.tokens.length === 2 ? this.#pairs.get(address) : undefined)
    this.#opened.set(address, found)
    return found
  }

  /** Closes all pools, because rows were evicted or an undo removed pools. */
  close(): void {
    this.#opened.clear()
  }
}
