import type { Price, Value } from '../../domain/money.ts'
import { fitsId } from '../../state/id-words.ts'
import type { EngineSettings } from '../settings.ts'
import { type Anchor, type EngineTables, ONLY } from '../tables.ts'
import { poolWorth } from './pair-prices.ts'
import { ReferencePrices, type Worth } from './reference-prices.ts'

/** Where a token's price comes from, and what was not believed. */
export type Explanation = {
  readonly token: string
  readonly price: Worth
  /** When the price was last looked at. */
  readonly updatedAt: number
  /** The pair it comes from; that of a quote asset which is no pair's target has it as its quote. */
  readonly mainPair: ExplainedPair | undefined
  /** From the main pair's quote asset, which may be the token itself, to a dollar. */
  readonly route: readonly RouteStep[]
  /** Stablecoin pools deep enough to price the native coin. */
  readonly anchors: readonly Anchor[]
  /** Other pairs of known depth; of those priced in one quote asset, only the deepest. */
  readonly shallowerPairs: readonly ExplainedPair[]
}

export type ExplainedPair = {
  readonly pair: string
  readonly amm: string
  readonly quote: string | undefined
  readonly depthUsd: Value | undefined
  /** By what its pool asked last, and by what of that counts. */
  readonly asked: Price | undefined
  readonly counted: Price | undefined
  readonly updatedAt: number
}

export type RouteStep = { readonly token: string; readonly kind: string; readonly worth: Worth }

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
    // Where it is the quote itself, a pool asks nothing for it: it counts for what it is worth.
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

/** A stablecoin or the native coin ends the route; another quote asset goes on through its own main pair. */
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
    if (asset === undefined) break
    steps.push({ token: next, kind: asset.kind, worth: reference.worthOf(next) })
    const main = asset.kind === 'major' ? tables.tokens.get(next)?.mainPair : undefined
    const pair = main === undefined ? undefined : tables.pairs.get(main)
    next = pair?.oriented?.quote.token
  }
  return steps
}
