import type { MainPairSwitch } from '../../domain/change.ts'
import { boundedValue } from '../../domain/limits.ts'
import type { BlockRecords } from '../block-records.ts'
import { isLeftCurve } from '../launch/platform.ts'
import type { PairDepth } from '../pair/depth.ts'
import type { PairView } from '../pair/pair-view.ts'
import type { CountedWorth } from '../price/counted-worth.ts'
import { amountValue } from '../price/pair-prices.ts'
import type { ReferencePrices, Worth } from '../price/reference-prices.ts'
import type { EngineSettings } from '../settings.ts'
import { mainOf, type QuotedPairs, withDepth, withQuotedPair } from './main-pair.ts'
import type { TokenView } from './token-view.ts'

type BlockOf = { readonly number: number; readonly time: number }

/** Propagates a block's changes of pairs to the tokens on both sides. */
export class TokenUpdates {
  readonly #settings: EngineSettings
  readonly #records: BlockRecords
  readonly #counted: CountedWorth
  readonly #after: ReferencePrices
  readonly #block: BlockOf
  readonly #switches: MainPairSwitch[] = []

  /** `counted` and its reference prices are those of the end of the block. */
  constructor(settings: EngineSettings, records: BlockRecords, counted: CountedWorth, block: BlockOf) {
    this.#settings = settings
    this.#records = records
    this.#counted = counted
    this.#after = counted.reference
    this.#block = block
  }

  /** `settled` are pairs whose counted price moved, even if the block did not touch them; `assets` have another role. */
  run(settled: readonly PairView[], assets: readonly string[]): MainPairSwitch[] {
    const touched = this.#records.touchedPairs
    // All depths first, so that the choice of the main pair does not depend on the order of updates.
    const depths = new Map<TokenView, readonly PairDepth[]>()
    const quoted = new Map<TokenView, QuotedPairs>()
    for (const pair of new Set([...touched.keys(), ...settled])) {
      const { oriented } = pair
      if (oriented === undefined) continue
      const target = this.#records.tokenOf(oriented.target)
      if (target !== undefined) depths.set(target, withDepth(depths.get(target) ?? target.targetPairs, pair))
      const quote = this.#records.tokenOf(oriented.quote)
      if (quote === undefined) continue
      const before = touched.has(pair) ? touched.get(pair) : pair.depth
      const known = quoted.get(quote) ?? quote.quotedPairs
      quoted.set(quote, withQuotedPair(known, before, pair, quote.mainPair))
    }
    const changed = assets.flatMap((asset) => this.#records.tokenIfKnown(asset) ?? [])
    for (const token of new Set([...depths.keys(), ...quoted.keys(), ...changed])) {
      this.#records.editToken(token)
      const quotedPairs = quoted.get(token)
      if (quotedPairs !== undefined) token.setQuotedPairs(quotedPairs)
      this.#update(token, depths.get(token) ?? token.targetPairs)
    }
    this.#updateQuoteAssets()
    return this.#switches
  }

  #update(token: TokenView, targetPairs: readonly PairDepth[]): void {
    const { mainPair: previous, quotedPairs } = token
    // Only a pair with the token as its target prices it.
    const pricing = mainOf(targetPairs, previous)
    const main = pricing ?? mainOf(quotedPairs.deepest, previous)
    if (previous !== main?.pair) this.#switch(token, main?.pair, [...targetPairs, ...quotedPairs.deepest])
    const worth =
      pricing === undefined
        ? this.#after.worthWithoutPair(token.address)
        : this.#counted.worthOf(this.#records.pair(pricing.pair))
    const tvlUsd = targetPairs.reduce((total, depth) => total + depth.tvlUsd, quotedPairs.tvlUsd)
    token.setPairs(targetPairs, main)
    token.tvlUsd = main === undefined && tvlUsd === 0n ? undefined : boundedValue(tvlUsd)
    this.#setWorth(token, worth)
  }

  #switch(token: TokenView, newPair: string | undefined, depths: readonly PairDepth[]): void {
    const { mainPair: oldPair } = token
    if (oldPair !== undefined) this.#setMain(token, oldPair, false)
    if (newPair === undefined) return
    this.#setMain(token, newPair, true)
    if (oldPair === undefined) return
    const { number: block, time } = this.#block
    const reason = this.#reasonToLeave(token, oldPair, depths)
    this.#switches.push({ token: token.address, block, time, oldPair, newPair, reason })
    // Published again because of the switch, even if the pair itself did not change.
    this.#records.editPair(this.#records.pair(newPair))
  }

  #setWorth(token: TokenView, { usd, native }: Worth): void {
    const { decimals, supplyRaw } = token
    token.priceUsd = usd
    token.priceNative = native
    token.fdvUsd = amountValue(supplyRaw, decimals, usd)
    token.marketCapUsd = amountValue(token.row.circulatingRaw, decimals, usd)
    token.updatedAt = this.#block.time
  }

  #reasonToLeave(token: TokenView, pair: string, depths: readonly PairDepth[]): MainPairSwitch['reason'] {
    if (isLeftCurve(token, this.#records.pair(pair))) return 'graduated'
    return depths.some((depth) => depth.pair === pair) ? 'deeper' : 'emptied'
  }

  /** A pair is main if it is the main pair of its target. */
  #setMain(token: TokenView, address: string, isMain: boolean): void {
    const pair = this.#records.pair(address)
    if (pair.targetToken !== token.address || pair.isMain === isMain) return
    this.#records.editPair(pair)
    pair.isMain = isMain
  }

  /** A stablecoin or native coin without a pricing pair has its reference price. */
  #updateQuoteAssets(): void {
    for (const { address, kind } of this.#settings.quoteAssets) {
      const token = this.#records.tokenIfKnown(address)
      if (kind === 'major' || token === undefined || token.targetPairs.length > 0) continue
      const worth = this.#after.worthOf(address)
      if (worth.usd === token.priceUsd && worth.native === token.priceNative) continue
      this.#records.editToken(token)
      this.#setWorth(token, worth)
    }
  }
}
