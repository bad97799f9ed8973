import type { MainPairSwitch, Token } from '../../../../../../src/domain/change.ts'
import { boundedValue } from '../../../../../../src/domain/limits.ts'
import type { BlockRecords } from '../block-records.ts'
import { isLeftCurve } from '../launch/platform.ts'
import { amountValue, orient, poolWorth } from '../price/pair-prices.ts'
import type { ReferencePrices } from '../price/reference-prices.ts'
import type { EngineSettings } from '../settings.ts'
import type { EngineTables, PairDepth, QuotedPairs, TokenState } from '../tables.ts'
import { mainOf, NO_QUOTED_PAIRS, withDepth, withQuotedPair } from './main-pair.ts'

type BlockOf = { readonly number: number; readonly time: number }

/** Carries what a block did to pairs over to the tokens on both of their sides. */
export class TokenUpdates {
  readonly #settings: EngineSettings
  readonly #tables: EngineTables
  readonly #records: BlockRecords
  readonly #after: ReferencePrices
  readonly #block: BlockOf
  readonly #switches: MainPairSwitch[] = []

  /** `after` are the reference prices once the block is over. */
  constructor(
    settings: EngineSettings,
    tables: EngineTables,
    records: BlockRecords,
    after: ReferencePrices,
    block: BlockOf,
  ) {
    this.#settings = settings
    this.#tables = tables
    this.#records = records
    this.#after = after
    this.#block = block
  }

  /** `settled` are pairs whose counted price moved, whether the block touched them or not. */
  run(settled: readonly string[]): MainPairSwitch[] {
    const touched = this.#records.touchedPairs
    // All depths first: which pair is the main one must not depend on which was looked at before.
    const depths = new Map<string, PairDepth[]>()
    const quoted = new Map<string, QuotedPairs>()
    for (const address of new Set([...touched.keys(), ...settled])) {
      const pair = this.#records.pair(address)
      const oriented = orient(pair)
      if (oriented === undefined) continue
      const [target, quote] = [oriented.target.token, oriented.quote.token]
      const state = this.#tables.tokens.get(target)
      if (state !== undefined) depths.set(target, withDepth(depths.get(target) ?? state.targetOf, pair))
      const quoteState = this.#tables.tokens.get(quote)
      if (quoteState === undefined) continue
      const before = touched.has(address) ? touched.get(address) : pair
      const known = quoted.get(quote) ?? this.#quotedPairs(quote)
      quoted.set(quote, withQuotedPair(known, before, pair, quoteState.token.mainPair))
    }
    for (const [token, each] of quoted) this.#tables.quotedPairs.put(token, each)
    for (const token of new Set([...depths.keys(), ...quoted.keys()])) {
      const state = this.#records.token(token)
      this.#update(state, depths.get(token) ?? state.targetOf)
    }
    this.#updateQuoteAssets()
    return this.#switches
  }

  #update(state: TokenState, targetOf: readonly PairDepth[]): void {
    const { address: token, decimals, supplyRaw, mainPair: previous } = state.token
    const quoted = this.#quotedPairs(token)
    // A pair that has the token as its target prices it; the others only say that it is traded.
    const pricing = mainOf(targetOf, previous)
    const main = pricing ?? mainOf(quoted.deepest, previous)
    if (previous !== undefined && previous !== main?.pair) this.#setMain(token, previous, false)
    if (main !== undefined) this.#setMain(token, main.pair, true)
    if (previous !== undefined && main !== undefined && previous !== main.pair) {
      const { number: block, time } = this.#block
      const reason = this.#reasonToLeave(state.token, previous, [...targetOf, ...quoted.deepest])
      this.#switches.push({ token, block, time, oldPair: previous, newPair: main.pair, reason })
      // Published again with the switch, although nothing in the pair itself may have changed.
      this.#records.putPair(this.#records.pair(main.pair))
    }
    const worth =
      pricing === undefined
        ? this.#after.worthWithoutPair(token)
        : poolWorth(this.#records.pair(pricing.pair), this.#tables.references.get(pricing.pair), this.#after)
    const tvlUsd = targetOf.reduce((total, depth) => total + depth.tvlUsd, quoted.tvlUsd)
    this.#records.putToken({
      token: {
        ...state.token,
        priceUsd: worth.usd,
        priceNative: worth.native,
        mainPair: main?.pair,
        mainPairTvlUsd: main?.tvlUsd,
        tvlUsd: main === undefined && tvlUsd === 0n ? undefined : boundedValue(tvlUsd),
        fdvUsd: amountValue(supplyRaw, decimals, worth.usd),
        marketCapUsd: amountValue(state.token.holding?.circulatingRaw, decimals, worth.usd),
        updatedAt: this.#block.time,
      },
      targetOf,
      firstTrade: state.firstTrade,
    })
  }

  #quotedPairs(token: string): QuotedPairs {
    return this.#tables.quotedPairs.get(token) ?? NO_QUOTED_PAIRS
  }

  #reasonToLeave(token: Token, pair: string, depths: readonly PairDepth[]): MainPairSwitch['reason'] {
    if (isLeftCurve(token, this.#records.pair(pair))) return 'graduated'
    return depths.some((depth) => depth.pair === pair) ? 'deeper' : 'emptied'
  }

  /** A pair is called main if it is that of its target. */
  #setMain(token: string, address: string, isMain: boolean): void {
    const pair = this.#records.pair(address)
    if (pair.targetToken === token && pair.isMain !== isMain) this.#records.putPair({ ...pair, isMain })
  }

  /** A stablecoin or native coin that no pair prices is worth what it counts for. */
  #updateQuoteAssets(): void {
    for (const { address, kind } of this.#settings.quoteAssets) {
      const state = this.#tables.tokens.get(address)
      if (kind === 'major' || state === undefined || state.targetOf.length > 0) continue
      const { usd, native } = this.#after.worthOf(address)
      const { decimals, supplyRaw, holding, priceUsd, priceNative } = state.token
      if (usd === priceUsd && native === priceNative) continue
      const fdvUsd = amountValue(supplyRaw, decimals, usd)
      const marketCapUsd = amountValue(holding?.circulatingRaw, decimals, usd)
      const prices = { priceUsd: usd, priceNative: native, fdvUsd, marketCapUsd, updatedAt: this.#block.time }
      this.#records.putToken({ ...state, token: { ...state.token, ...prices } })
    }
  }
}
