import type { Pair, PairSide } from '../../domain/change.ts'
import { invertPrice, ONE_PRICE, type Price, priceOf, valueOfAmount } from '../../domain/money.ts'
import type { EngineSettings, QuoteAsset } from '../settings.ts'
import { type Anchor, type EngineTables, ONLY } from '../tables.ts'

/** What one whole unit of a coin is worth, as far as is known. */
export type Worth = { readonly usd: Price | undefined; readonly native: Price | undefined }

export const UNKNOWN_WORTH: Worth = { usd: undefined, native: undefined }

/**
 * The prices everything else is converted by: a stablecoin is a dollar, the native coin is what the deepest
 * stablecoin pool says.
 */
export class ReferencePrices {
  readonly #tables: EngineTables
  readonly #assets: ReadonlyMap<string, QuoteAsset & { readonly rank: number }>

  constructor(settings: EngineSettings, tables: EngineTables) {
    this.#tables = tables
    this.#assets = new Map(settings.quoteAssets.map((asset, rank) => [asset.address, { ...asset, rank }]))
  }

  /** The side that is not a quote asset; of two quote assets the lower-ranked one; of none, none. */
  targetOf(token0: string, token1: string): string | undefined {
    const rank0 = this.#assets.get(token0)?.rank
    const rank1 = this.#assets.get(token1)?.rank
    if (rank0 === undefined && rank1 === undefined) return undefined
    if (rank0 === undefined) return token0
    if (rank1 === undefined) return token1
    return rank0 > rank1 ? token0 : token1
  }

  /** Of a quote asset. */
  worthOf(token: string): Worth {
    switch (this.#assets.get(token)?.kind) {
      case 'stable':
        return { usd: ONE_PRICE, native: invertPrice(this.nativeUsd()) }
      case 'native':
        return { usd: this.nativeUsd(), native: ONE_PRICE }
      default:
        return UNKNOWN_WORTH
    }
  }

  isNative(token: string): boolean {
    return this.#assets.get(token)?.kind === 'native'
  }

  isStable(token: string): boolean {
    return this.#assets.get(token)?.kind === 'stable'
  }

  nativeUsd(): Price | undefined {
    let deepest: Anchor | undefined
    for (const anchor of this.#tables.anchors.get(ONLY) ?? []) {
      if (deepest === undefined || anchor.depthUsd > deepest.depthUsd) deepest = anchor
    }
    return deepest?.nativeUsd
  }

  /** Takes note of a stablecoin/native pool's new reserves; any other pair is passed over. */
  observe(pair: Pair): boolean {
    const { token0, token1 } = pair
    if (this.isStable(token0.token) && this.isNative(token1.token))
      return this.#setAnchor(pair.address, token0, token1)
    if (this.isStable(token1.token) && this.isNative(token0.token))
      return this.#setAnchor(pair.address, token1, token0)
    return false
  }

  #setAnchor(pair: string, stable: PairSide, native: PairSide): boolean {
    if (stable.decimals === undefined || native.decimals === undefined) return false
    const nativeUsd = priceOf(native.reserveRaw, native.decimals, stable.reserveRaw, stable.decimals)
    const depthUsd = valueOfAmount(stable.reserveRaw, stable.decimals, ONE_PRICE)
    const others = (this.#tables.anchors.get(ONLY) ?? []).filter((anchor) => anchor.pair !== pair)
    const known = nativeUsd === undefined || depthUsd === undefined ? [] : [{ pair, depthUsd, nativeUsd }]
    // By address, so that the list, and which of two equally deep pools wins, does not depend on history.
    const anchors = [...others, ...known].sort((a, b) => (a.pair < b.pair ? -1 : 1))
    this.#tables.anchors.put(ONLY, anchors)
    return true
  }
}
