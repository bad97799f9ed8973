import type { LaunchFact, PoolFact, TokenFact } from '../domain/envelope.ts'
import { newPair, newToken } from './first-records.ts'
import type { FoldedBlock } from './folded-block.ts'
import { withPastLaunch } from './launch/platform.ts'
import { setReserves } from './pair/pair-updates.ts'
import type { PairView } from './pair/pair-view.ts'
import { newPool, type Pool, pairId } from './pool/pool.ts'
import { amountValue } from './price/pair-prices.ts'
import { ONLY } from './tables.ts'
import type { TokenView } from './token/token-view.ts'

/** Tokens and pools that a block mentions first, with the facts a node reported about them. */
export class FactFold {
  readonly #in: FoldedBlock
  /** Tokens whose supply is a fact of this block. */
  readonly met = new Set<string>()

  constructor(block: FoldedBlock) {
    this.#in = block
  }

  run(): void {
    const { facts } = this.#in.block
    // Pools refer to their tokens, so tokens come first.
    for (const fact of facts) if (fact.type === 'token') this.#meetToken(fact)
    this.#setNativeSupply()
    for (const fact of facts) if (fact.type === 'launch') this.#meetLaunch(fact)
    for (const fact of facts) if (fact.type === 'pool') this.#meetPool(fact)
  }

  meetPair(pool: Pool, lower: number, higher: number, reserves: readonly bigint[] | undefined): PairView {
    const { block, settings, records, reference } = this.#in
    const token0 = pool.tokens[lower] ?? ''
    const token1 = pool.tokens[higher] ?? ''
    const pair = newPair({
      address: pairId(pool, lower, higher),
      amm: settings.registry.deploymentOf(pool.factory, block.number)?.amm ?? '',
      tokens: [token0, token1],
      reserves,
      targetToken: reference.targetOf(token0, token1),
      tokenOf: (address) => records.tokenIfKnown(address),
      time: block.time,
    })
    return records.addPair(pair)
  }

  #meetToken(fact: TokenFact): void {
    const { block, records, reference } = this.#in
    const known = records.tokenIfKnown(fact.address)
    if (known !== undefined) {
      this.#meetTokenAgain(known, fact)
      return
    }
    this.met.add(fact.address)
    const token = newToken(fact, reference.worthWithoutPair(fact.address), block.time)
    records.addToken(token)
  }

  /** A supplement has added the token earlier, without its supply, because the log follows it only from this block on. */
  #meetTokenAgain(token: TokenView, { address, supplyRaw }: TokenFact): void {
    if (token.supplyRaw !== undefined || supplyRaw === undefined) return
    this.met.add(address)
    this.#in.records.editToken(token)
    token.supplyRaw = supplyRaw
    token.fdvUsd = amountValue(supplyRaw, token.decimals, token.priceUsd)
  }

  #meetLaunch(fact: LaunchFact): void {
    const { block, settings, records } = this.#in
    const { time } = block
    const platform = settings.registry.deploymentOf(fact.factory, fact.block)
    const token = records.tokenIfKnown(fact.address)
    const isPast = (fact.createdAt ?? 0) <= time && (fact.graduatedAt ?? 0) <= time
    if (platform?.is.isLaunchPlatform === undefined || token === undefined || !isPast) return
    records.editToken(token)
    token.platform = withPastLaunch(token.platform, platform.amm, fact)
    token.updatedAt = time
  }

  /** Differs in the block that mentions the coin first, and in the first block folded by other settings. */
  #setNativeSupply(): void {
    const { block, settings, records } = this.#in
    const { native } = settings
    const token = native && records.tokenIfKnown(native.address)
    if (native === undefined || token === undefined || token.supplyRaw === native.supplyRaw) return
    records.editToken(token)
    token.supplyRaw = native.supplyRaw
    token.fdvUsd = amountValue(native.supplyRaw, token.decimals, token.priceUsd)
    token.marketCapUsd = token.fdvUsd
    token.updatedAt = block.time
  }

  #meetPool(fact: PoolFact): void {
    const { block, settings, tables } = this.#in
    if (tables.pools.has(fact.address)) {
      this.#meetPoolAgain(fact)
      return
    }
    const deployment = settings.registry.deploymentOf(fact.factory, block.number)
    if (deployment === undefined) return
    const pool = newPool(fact)
    tables.pools.put(pool)
    const { isLaunchPlatform, isSingleton } = deployment.is
    if (isLaunchPlatform && !isSingleton) tables.curves.put(pool.tokens[0] ?? '', pool.address)
    if (fact.tokens.length === 2) this.meetPair(pool, 0, 1, fact.reservesBefore)
  }

  /**
   * A pool whose exchange was not read for some blocks: reserves that are counted lack what happened in between. Before the
   * first settings in the log no exchange can have been left out.
   */
  #meetPoolAgain({ address, factory, reservesBefore }: PoolFact): void {
    const { block, settings, tables, records } = this.#in
    if (tables.foldedBy.get(ONLY) === undefined) return
    const pool = tables.pools.open(address)
    if (pool?.pair === undefined || pool.factory !== factory) return
    const how = pool.exchangeIn(block.number, settings.registry)?.is.reserves
    if (how !== 'counted' && how !== 'counted_without_fees') return
    records.editPair(pool.pair)
    setReserves(pool.pair, [reservesBefore?.[0], reservesBefore?.[1]])
  }
}
