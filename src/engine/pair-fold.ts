import type { PoolEvent } from '../dex/events.ts'
import type { PoolStateFact } from '../domain/envelope.ts'
import { isAmount } from '../domain/limits.ts'
import type { FoldedBlock } from './folded-block.ts'
import { setReserves } from './pair/pair-updates.ts'
import type { PairView } from './pair/pair-view.ts'
import { ratioOf } from './pool/ratio.ts'
import { boundedReserve, type Reserves, reservesAfter } from './pool/reserves.ts'
import type { OpenedPool } from './pool-table.ts'
import { AskedPrices } from './price/asked-prices.ts'
import { reprice } from './price/pair-prices.ts'

/** Reserves and prices of pairs after the events of a block. */
export class PairFold {
  readonly #in: FoldedBlock
  readonly #asked = new AskedPrices()

  constructor(block: FoldedBlock) {
    this.#in = block
  }

  /** Updates a pair's reserves and prices after an event of its pool. */
  refresh(pool: OpenedPool, pair: PairView, event: PoolEvent): void {
    const { block, settings, tables } = this.#in
    if (pair.targetToken === undefined) this.#orient(pair)
    const exchange = pool.exchangeIn(block.number, settings.registry)
    const how = exchange?.is.reserves ?? 'unknown'
    // A Sync event reports the reserves before the Swap, Mint or Burn that caused it.
    if (how === 'reported' && pool.pricing.kind === 'reserves' && event.type !== 'reservesSet') return
    this.#set(pool, pair, reservesAfter(pool, pair, event, how, tables.prices))
  }

  /** The state after the block's events, as a node reports it; a pool with more than two tokens has no pair to set. */
  takeState({ address, reserves, price }: PoolStateFact): void {
    const { block, settings, tables } = this.#in
    const { pools, prices } = tables
    const pool = pools.open(address)
    const pair = pool?.pair
    const exchange = pool?.exchangeIn(block.number, settings.registry)
    if (pool === undefined || pair === undefined || exchange === undefined) return
    if (price?.kind === 'exchange') {
      if (isAmount(price.raw0) && isAmount(price.raw1)) prices.setLastExchange(pair, price)
    } else if (price !== undefined) prices.setReported(pool, price)
    if (pair.targetToken === undefined) this.#orient(pair)
    this.#set(pool, pair, [boundedReserve(reserves?.[0]), boundedReserve(reserves?.[1])])
  }

  /** Prices of pairs that were asked for during the block, at its end. */
  settle(): ReturnType<AskedPrices['settle']> {
    const { settings, tables, reference } = this.#in
    return this.#asked.settle(settings, tables, reference)
  }

  /** A pair without a target token gets it once one of its tokens has become a quote asset, or has a route to one. */
  #orient(pair: PairView): void {
    const { records, reference, tables } = this.#in
    const target = reference.targetOf(pair.token0.token, pair.token1.token)
    if (target === undefined) return
    records.editPair(pair)
    tables.pairs.orient(pair, target)
  }

  #set(pool: OpenedPool, pair: PairView, reserves: Reserves): void {
    const { block, settings, tables, records, reference } = this.#in
    records.editPair(pair)
    setReserves(pair, reserves)
    pair.updatedAt = block.time
    const exchange = pool.exchangeIn(block.number, settings.registry)
    const ratio = ratioOf(pool, pair, tables.prices, exchange?.is.isLaunchPlatform)
    this.#asked.note(pair, ratio)
    reprice(pair, ratio, this.#supplyOfTarget(pair), reference)
  }

  #supplyOfTarget({ oriented }: PairView): bigint | undefined {
    return oriented === undefined ? undefined : this.#in.records.tokenOf(oriented.target)?.supplyRaw
  }
}
