import type { Pair, PairSide } from '../../domain/change.ts'
import { invertPrice, ONE_PRICE, type Price, priceOf, valueOfAmount } from '../../domain/money.ts'
import type { Ratio } from '../pool/ratio.ts'
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

  /** Of a quote asset; of any other token nothing is known but what a pair of it says. */
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

  /** Takes note of a stablecoin/native pool's new price and depth; any other pair is passed over. */
  observe(pair: Pair, ratio: Ratio | undefined): boolean {
    const { token0, token1 } = pair
    const { raw0, raw1 } = ratio ?? { raw0: 0n, raw1: 0n }
    if (this.isStable(token0.token) && this.isNative(token1.token))
      return this.#setAnchor(pair.address, token0, raw0, token1, raw1)
    if (this.isStable(token1.token) && this.isNative(token0.token))
      return this.#setAnchor(pair.address, token1, raw1, token0, raw0)
    return false
  }

  #setAnchor(
    pair: string,
    stable: PairSide,
    stableRaw: bigint,
    native: PairSide,
    nativeRaw: bigint,
  ): boolean {
    if (stable.decimals === undefined || native.decimals === undefined) return false
    const nativeUsd = priceOf(nativeRaw, native.decimals, stableRaw, stable.decimals)
    // One that buys no native coins for dollars, whatever its price, says nothing of their worth.
    const depthUsd =
      stable.reserveRaw === undefined || stable.reserveRaw === 0n
        ? undefined
        : valueOfAmount(stable.reserveRaw, stable.decimals, ONE_PRICE)
    const others = (this.#tables.anchors.get(ONLY) ?? []).filter((anchor) => anchor.pair !== pair)
    const known = nativeUsd === undefined || depthUsd === undefined ? [] : [{ pair, depthUsd, nativeUsd }]
    // By address, so that the list, and which of two equally deep pools wins, does not depend on history.
    const anchors = [...others, ...known].sort((a, b) => (a.pair < b.pair ? -1 : 1))
    this.#tables.anchors.put(ONLY, anchors)
    return true
  }
}
