import type { MainPairSwitch, Token } from '../../domain/change.ts'
import { boundedValue } from '../../domain/limits.ts'
import type { Value } from '../../domain/money.ts'
import type { BlockRecords } from '../block-records.ts'
import { isLeftCurve } from '../launch/platform.ts'
import { amountValue, poolWorth } from '../price/pair-prices.ts'
import type { ReferencePrices } from '../price/reference-prices.ts'
import type { EngineSettings } from '../settings.ts'
import type { EngineTables, PairDepth, TokenState } from '../tables.ts'
import { mainOf, withDepth } from './main-pair.ts'

type BlockOf = { readonly number: number; readonly time: number }

/** Carries what a block did to pairs over to the tokens they price. */
export class TargetUpdates {
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

  run(pairs: ReadonlySet<string>): MainPairSwitch[] {
    // All depths first: which pair is the main one must not depend on which was looked at before.
    const depths = new Map<string, PairDepth[]>()
    for (const address of pairs) {
      const pair = this.#records.pair(address)
      const state = pair.targetToken === undefined ? undefined : this.#tables.tokens.get(pair.targetToken)
      if (state === undefined) continue
      const { address: token } = state.token
      depths.set(token, withDepth(depths.get(token) ?? state.targetOf, pair))
    }
    for (const [token, targetOf] of depths) this.#update(this.#records.token(token), targetOf)
    this.#updateQuoteAssets()
    return this.#switches
  }

  #update(state: TokenState, targetOf: readonly PairDepth[]): void {
    const { address: token, decimals, supplyRaw, mainPair: previous } = state.token
    const main = mainOf(targetOf, previous)
    if (previous !== undefined && previous !== main?.pair) this.#setMain(previous, false)
    if (main !== undefined) this.#setMain(main.pair, true)
    if (previous !== undefined && main !== undefined && previous !== main.pair) {
      const { number: block, time } = this.#block
      const reason = this.#reasonToLeave(state.token, previous, targetOf)
      this.#switches.push({ token, block, time, oldPair: previous, newPair: main.pair, reason })
    }
    const worth =
      main === undefined
        ? this.#after.worthWithoutPair(token)
        : poolWorth(this.#records.pair(main.pair), this.#tables.references.get(main.pair), this.#after)
    this.#records.putToken({
      token: {
        ...state.token,
        priceUsd: worth.usd,
        priceNative: worth.native,
        mainPair: main?.pair,
        mainPairTvlUsd: main?.tvlUsd,
        tvlUsd: main === undefined ? undefined : tvlOver(targetOf),
        fdvUsd: amountValue(supplyRaw, decimals, worth.usd),
        marketCapUsd: amountValue(state.token.holding?.circulatingRaw, decimals, worth.usd),
        updatedAt: this.#block.time,
      },
      targetOf,
      firstTrade: state.firstTrade,
    })
  }

  #reasonToLeave(token: Token, pair: string, targetOf: readonly PairDepth[]): MainPairSwitch['reason'] {
    if (isLeftCurve(token, this.#records.pair(pair))) return 'graduated'
    return targetOf.some((depth) => depth.pair === pair) ? 'deeper' : 'emptied'
  }

  #setMain(address: string, isMain: boolean): void {
    const pair = this.#records.pair(address)
    if (pair.isMain !== isMain) this.#records.putPair({ ...pair, isMain })
  }

  /** A stablecoin or native coin that no pair prices is worth what it counts for. */
  #updateQuoteAssets(): void {
    for (const { address, kind } of this.#settings.quoteAssets) {
      const state = this.#tables.tokens.get(address)
      if (kind === 'major' || state === undefined || state.token.mainPair !== undefined) continue
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

function tvlOver(pairs: readonly PairDepth[]): Value | undefined {
  return boundedValue(pairs.reduce((total, { tvlUsd }) => total + tvlUsd, 0n))
}
