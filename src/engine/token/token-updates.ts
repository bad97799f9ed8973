import type { MainPairSwitch } from '../../domain/change.ts'
import { boundedValue } from '../../domain/limits.ts'
import type { BlockRecords } from '../block-records.ts'
import { isLeftCurve } from '../launch/platform.ts'
import type { PairDepth } from '../pair/depth.ts'
import type { PairView } from '../pair/pair-view.ts'
import type { CountedWorth } from '../price/counted-worth.ts'
import { amountValue } from '../price/pair-prices.ts'
import type { ReferencePrices } from '../price/reference-prices.ts'
import type { Worth } from '../price/worth.ts'
import type { EngineSettings } from '../settings.ts'
import {
  isListedAsRouted,
  mainOf,
  type QuotedPairs,
  routedDepth,
  routedTvl,
  withDepth,
  withoutShallowRoutes,
  withQuotedPair,
} from './main-pair.ts'
import type { TokenView } from './token-view.ts'

/** A token's pairs and price when the block ends. */
type TokenUpdate = {
  readonly targetPairs: readonly PairDepth[]
  readonly quotedPairs: QuotedPairs
  readonly main: PairDepth | undefined
  readonly worth: Worth
}

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
      const { address } = pair
      const isRouted = this.#isRouted(pair)
      if (target !== undefined) {
        const own = { address, depth: isRouted ? this.#routedDepth(pair) : pair.depth }
        depths.set(target, withDepth(depths.get(target) ?? target.targetPairs, own))
      }
      const before = touched.has(pair) ? touched.get(pair) : pair.isRouted ? undefined : pair.depth
      if (pair.isRouted !== isRouted) this.#setRouted(pair, isRouted)
      const quote = this.#records.tokenOf(oriented.quote)
      // A token between a pair and a quote asset gains nothing from the pair, which anyone can create.
      if (quote === undefined || (isRouted && before === undefined)) continue
      const known = quoted.get(quote) ?? quote.quotedPairs
      const own = { address, depth: isRouted ? undefined : pair.depth }
      quoted.set(quote, withQuotedPair(known, before, own, quote.mainPair))
    }
    const changed = assets.flatMap((asset) => this.#records.tokenIfKnown(asset) ?? [])
    // All prices before the first change of a token, because routes lead through other tokens.
    const updates = new Map<TokenView, TokenUpdate>()
    for (const token of new Set([...depths.keys(), ...quoted.keys(), ...changed])) {
      const targetPairs = depths.get(token) ?? token.targetPairs
      updates.set(token, this.#updateOf(token, targetPairs, quoted.get(token) ?? token.quotedPairs))
    }
    for (const [token, update] of updates) {
      this.#records.editToken(token)
      if (quoted.has(token)) token.setQuotedPairs(update.quotedPairs)
      this.#apply(token, update)
    }
    this.#updateQuoteAssets()
    return this.#switches
  }

  #isRouted({ oriented }: PairView): boolean {
    return oriented !== undefined && this.#after.routes.isNeededFor(oriented.quote.token)
  }

  /** Set here alone, because it says whether the pair's depth is among those of its quote. */
  #setRouted(pair: PairView, isRouted: boolean): void {
    this.#records.editPair(pair)
    pair.isRouted = isRouted
  }

  #routedDepth({ depth, oriented }: PairView): PairDepth | undefined {
    return routedDepth(depth, this.#after.routes.of(oriented?.quote.token ?? '')?.depthUsd)
  }

  #updateOf(token: TokenView, listed: readonly PairDepth[], quotedPairs: QuotedPairs): TokenUpdate {
    const { mainPair: previous } = token
    const targetPairs = listed.some(isListedAsRouted) ? this.#withRoutesOfNow(listed, previous) : listed
    // Only a pair with the token as its target prices it.
    const pricing = mainOf(targetPairs, previous)
    const main = pricing ?? mainOf(quotedPairs.deepest, previous)
    const worth =
      pricing === undefined
        ? this.#after.worthWithoutPair(token.address)
        : this.#counted.worthOf(this.#records.pair(pricing.pair))
    return { targetPairs, quotedPairs, main, worth }
  }

  /** A route that has lost its depth since a pair was listed must not keep that pair the main one. */
  #withRoutesOfNow(listed: readonly PairDepth[], mainPair: string | undefined): PairDepth[] {
    const now = listed.flatMap((depth): PairDepth[] => {
      if (!isListedAsRouted(depth)) return [depth]
      const pair = this.#records.pair(depth.pair)
      const own = this.#isRouted(pair) ? this.#routedDepth(pair) : pair.depth
      return own === undefined ? [] : [own]
    })
    return withoutShallowRoutes(now, mainPair)
  }

  #apply(token: TokenView, { targetPairs, quotedPairs, main, worth }: TokenUpdate): void {
    if (token.mainPair !== main?.pair)
      this.#switch(token, main?.pair, [...targetPairs, ...quotedPairs.deepest])
    const isByRoute = main !== undefined && isListedAsRouted(main)
    const mainTvlUsd = isByRoute ? routedTvl(main, this.#records.pair(main.pair).tvlUsd) : main?.tvlUsd
    const listedUsd = targetPairs.reduce((total, depth) => total + depth.tvlUsd, quotedPairs.tvlUsd)
    const tvlUsd = isByRoute ? listedUsd + (mainTvlUsd ?? 0n) : listedUsd
    token.setPairs(targetPairs, main, mainTvlUsd)
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
    const { address, decimals, supplyRaw } = token
    // The supply of the native coin is stated as the circulating one.
    const circulatingRaw = address === this.#settings.native?.address ? supplyRaw : token.row.circulatingRaw
    token.priceUsd = usd
    token.priceNative = native
    token.fdvUsd = amountValue(supplyRaw, decimals, usd)
    token.marketCapUsd = amountValue(circulatingRaw, decimals, usd)
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
