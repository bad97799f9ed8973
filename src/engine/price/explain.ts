import type { QuoteAsset } from '../../domain/chain-settings.ts'
import type { Price, Value } from '../../domain/money.ts'
import { fitsId } from '../../state/id-words.ts'
import type { EngineSettings } from '../settings.ts'
import { type Anchor, type EngineTables, ONLY } from '../tables.ts'
import { poolWorth } from './pair-prices.ts'
import { ReferencePrices } from './reference-prices.ts'
import type { Worth } from './worth.ts'

/** Explains a token's price: its source, and the pairs that were ignored. */
export type Explanation = {
  readonly token: string
  readonly price: Worth
  /** Time of the last price update. */
  readonly updatedAt: number
  /**
   * The pair that prices the token. A quote asset that is no pair's target is priced by a pair that has it as its
   * quote.
   */
  readonly mainPair: ExplainedPair | undefined
  /**
   * From the main pair's quote, which may be the token itself, to dollars. A token that is no quote asset leads to one
   * through its main pair; without a worth, that pair is not deep enough, or the route is too long.
   */
  readonly route: readonly RouteStep[]
  /** Stablecoin pools deep enough to price the native coin. */
  readonly anchors: readonly Anchor[]
  /** Other pairs of known depth; only the deepest of those that share a quote asset. */
  readonly shallowerPairs: readonly ExplainedPair[]
}

export type ExplainedPair = {
  readonly pair: string
  readonly amm: string
  readonly quote: string | undefined
  readonly depthUsd: Value | undefined
  /** At the last price of its pool, and at its counted price. */
  readonly asked: Price | undefined
  readonly counted: Price | undefined
  readonly updatedAt: number
}

export type RouteStep = {
  readonly token: string
  /** That of a quote asset; `token` for any other token. */
  readonly kind: QuoteAsset['kind'] | 'token'
  readonly worth: Worth
  /** The pair through which a token that is no quote asset goes on, and the depth that counts from there on. */
  readonly pair?: string | undefined
  readonly depthUsd?: Value | undefined
}

export function explain(
  address: string,
  settings: EngineSettings,
  tables: EngineTables,
): Explanation | undefined {
  const token = fitsId(address) ? tables.tokens.get(address) : undefined
  if (token === undefined) return undefined
  const reference = new ReferencePrices(settings, tables)
  const depths = [...token.targetPairs, ...token.quotedPairs.deepest]
  const describe = (id: string): ExplainedPair | undefined => {
    const pair = tables.pairs.get(id)
    if (pair === undefined) return undefined
    const { oriented } = pair
    // A pool has no price for its own quote asset, so the asset's own price counts.
    const isQuote = oriented?.quote.token === address
    const counted = isQuote
      ? reference.worthOf(address)
      : poolWorth(pair, tables.prices.counted(pair), reference)
    return {
      pair: id,
      amm: pair.amm,
      quote: oriented?.quote.token,
      depthUsd: depths.find((depth) => depth.pair === id)?.depthUsd,
      asked: isQuote ? undefined : oriented?.target.priceUsd,
      counted: counted.usd,
      updatedAt: pair.updatedAt,
    }
  }
  const mainPair = token.mainPair === undefined ? undefined : describe(token.mainPair)
  const others = depths.filter(({ pair }) => pair !== token.mainPair)
  return {
    token: address,
    price: { usd: token.priceUsd, native: token.priceNative },
    updatedAt: token.updatedAt,
    mainPair,
    route: routeFrom(mainPair?.quote, settings, tables, reference),
    anchors: tables.anchors.get(ONLY) ?? [],
    shallowerPairs: others.flatMap(({ pair }) => describe(pair) ?? []),
  }
}

/** A stablecoin or the native coin ends the route; any other token continues through its own main pair. */
function routeFrom(
  quote: string | undefined,
  settings: EngineSettings,
  tables: EngineTables,
  reference: ReferencePrices,
): RouteStep[] {
  const steps: RouteStep[] = []
  let next = quote
  while (next !== undefined && steps.every(({ token }) => token !== next)) {
    const asset = settings.quoteAssets.find(({ address }) => address === next)
    const kind = asset?.kind ?? (reference.routes.isNeededFor(next) ? 'token' : undefined)
    if (kind === undefined) break
    const main = kind === 'token' || kind === 'major' ? tables.tokens.get(next)?.mainPair : undefined
    const through = { pair: main, depthUsd: reference.routes.of(next)?.depthUsd }
    steps.push({ token: next, kind, worth: reference.worthOf(next), ...(kind === 'token' && through) })
    const pair = main === undefined ? undefined : tables.pairs.get(main)
    next = pair?.oriented?.quote.token
  }
  return steps
}
