import type { QuoteAsset } from '../../domain/chain-settings.ts'
import { convertPrice, invertPrice, ONE_PRICE, type Price } from '../../domain/money.ts'
import type { EngineSettings } from '../settings.ts'
import { type Anchor, type EngineTables, ONLY } from '../tables.ts'
import { weightedMedian } from './median.ts'
import { Routes } from './routes.ts'
import { UNKNOWN_WORTH, type Worth } from './worth.ts'

/** A stablecoin loses its peg beyond this deviation, in percent. */
const PEG_PERCENT = 2n

/**
 * The prices that all conversions use: those at the end of a block, for the whole next block. Nothing inside a block
 * moves them.
 */
export class ReferencePrices {
  readonly nativeUsd: Price | undefined
  readonly routes: Routes
  readonly #assets: ReadonlyMap<string, QuoteAsset & { readonly rank: number; readonly worth: Worth }>

  constructor(settings: EngineSettings, tables: EngineTables, routes = new Routes(settings, tables)) {
    this.routes = routes
    const anchors = tables.anchors.get(ONLY) ?? []
    this.nativeUsd = medianOf(anchors)
    this.#assets = new Map(
      settings.quoteAssets.map((asset, rank) => [
        asset.address,
        { ...asset, rank, worth: this.#worthNow(asset, anchors, settings, tables) },
      ]),
    )
  }

  /**
   * The side that is not a quote asset; of two quote assets, the lower-ranked one. If neither is one, the side without a
   * route, or with the shallower one; undefined if neither has a route.
   */
  targetOf(token0: string, token1: string): string | undefined {
    const rank0 = this.#assets.get(token0)?.rank
    const rank1 = this.#assets.get(token1)?.rank
    if (rank0 === undefined && rank1 === undefined) return this.#targetByRoute(token0, token1)
    if (rank0 === undefined) return token0
    if (rank1 === undefined) return token1
    return rank0 > rank1 ? token0 : token1
  }

  #targetByRoute(token0: string, token1: string): string | undefined {
    const [route0, route1] = [this.routes.of(token0), this.routes.of(token1)]
    if (route0 === undefined && route1 === undefined) return undefined
    const [depth0, depth1] = [route0?.depthUsd ?? 0n, route1?.depthUsd ?? 0n]
    if (depth0 === depth1) return token0 < token1 ? token1 : token0
    return depth0 < depth1 ? token0 : token1
  }

  /** The value of a quote asset, or of a token with a route; unknown for any other token. */
  worthOf(token: string): Worth {
    return this.#assets.get(token)?.worth ?? this.routes.of(token)?.worth ?? UNKNOWN_WORTH
  }

  /** The value of a token without a pair: known only for stablecoins and the native coin. */
  worthWithoutPair(token: string): Worth {
    const asset = this.#assets.get(token)
    return asset === undefined || asset.kind === 'major' ? UNKNOWN_WORTH : asset.worth
  }

  isQuoteAsset(token: string): boolean {
    return this.#assets.has(token)
  }

  isNative(token: string): boolean {
    return this.#assets.get(token)?.kind === 'native'
  }

  isStable(token: string): boolean {
    return this.#assets.get(token)?.kind === 'stable'
  }

  #worthNow(
    { address, kind }: QuoteAsset,
    anchors: readonly Anchor[],
    { minDepthUsd }: EngineSettings,
    tables: EngineTables,
  ): Worth {
    switch (kind) {
      case 'native':
        return { usd: this.nativeUsd, native: ONE_PRICE }
      case 'stable': {
        const usd = this.#dollarsOf(anchors.filter(({ stable }) => stable === address))
        return { usd, native: convertPrice(usd, invertPrice(this.nativeUsd)) }
      }
      case 'major': {
        // Priced like any token, but only by a pool that is too deep to manipulate cheaply.
        const token = tables.tokens.get(address)
        const main = token?.targetPairs.find(({ pair }) => pair === token.mainPair)
        if (token === undefined || main === undefined || main.depthUsd < minDepthUsd) return UNKNOWN_WORTH
        return { usd: token.priceUsd, native: token.priceNative }
      }
    }
  }

  /** A stablecoin is worth a dollar, unless its own pools price the native coin differently from all pools together. */
  #dollarsOf(own: readonly Anchor[]): Price {
    const nativeInIt = medianOf(own)
    if (nativeInIt === undefined || this.nativeUsd === undefined) return ONE_PRICE
    const usd = convertPrice(this.nativeUsd, invertPrice(nativeInIt)) ?? ONE_PRICE
    const off = usd > ONE_PRICE ? usd - ONE_PRICE : ONE_PRICE - usd
    return off * 100n > ONE_PRICE * PEG_PERCENT ? usd : ONE_PRICE
  }
}

function medianOf(anchors: readonly Anchor[]): Price | undefined {
  return weightedMedian(anchors.map(({ nativeUsd, depthUsd }) => ({ price: nativeUsd, weight: depthUsd })))
}
