import type { Value } from '../../domain/money.ts'
import { ROUTE_SHARE } from '../pair/depth.ts'
import type { EngineSettings } from '../settings.ts'
import type { EngineTables } from '../tables.ts'
import type { Worth } from './worth.ts'

/** How a token that is no quote asset leads to one: through its main pair, or that and the main pair of its quote. */
export type Route = {
  readonly worth: Worth
  /** The least depth of the pairs on the way. */
  readonly depthUsd: Value
  /** The main pair, and the token that it is priced in. */
  readonly pair: string
  readonly quote: string
}

/**
 * The routes of tokens, as of the end of the previous block: tokens change when a block ends, and a route that was
 * looked up once stays the same for the whole block.
 */
export class Routes {
  readonly #hasRoutes: boolean
  readonly #minDepthUsd: Value
  readonly #tables: Pick<EngineTables, 'tokens' | 'pairs'>
  readonly #quoteAssets: ReadonlySet<string>
  /** Routes of one pair, and routes of one or two. */
  readonly #direct = new Map<string, Route | undefined>()
  readonly #all = new Map<string, Route | undefined>()

  constructor(settings: EngineSettings, tables: Pick<EngineTables, 'tokens' | 'pairs'>) {
    this.#hasRoutes = settings.hasRoutes === true
    this.#minDepthUsd = settings.minDepthUsd
    this.#tables = tables
    this.#quoteAssets = new Set(this.#hasRoutes ? settings.quoteAssets.map(({ address }) => address) : [])
  }

  /** Whether a pair with this quote is priced by a route. */
  isNeededFor(quote: string): boolean {
    return this.#hasRoutes && !this.#quoteAssets.has(quote)
  }

  /** The token's route; undefined for quote assets, which need none. */
  of(token: string): Route | undefined {
    if (!this.isNeededFor(token)) return undefined
    return remembered(this.#all, token, () => {
      const first = this.#firstPair(token)
      if (first === undefined || !this.isNeededFor(first.quote)) return first
      // No more than one token in between, so a route cannot come back to where it began.
      const next = this.#directOf(first.quote)
      if (next === undefined) return undefined
      const nextUsd = next.depthUsd / ROUTE_SHARE
      const isCarried = first.depthUsd <= nextUsd
      const depthUsd = isCarried ? first.depthUsd : nextUsd
      return this.#isDeep(depthUsd) ? { ...first, depthUsd } : undefined
    })
  }

  #directOf(token: string): Route | undefined {
    return remembered(this.#direct, token, () => {
      const first = this.#firstPair(token)
      return first === undefined || this.isNeededFor(first.quote) ? undefined : first
    })
  }

  /** The token's main pair, if it prices the token and is deep enough. */
  #firstPair(address: string): Route | undefined {
    const token = this.#tables.tokens.get(address)
    const main = token?.targetPairs.find(({ pair }) => pair === token.mainPair)
    if (token?.priceUsd === undefined || main === undefined || !this.#isDeep(main.depthUsd)) return undefined
    const quote = this.#tables.pairs.get(main.pair)?.oriented?.quote.token
    if (quote === undefined) return undefined
    const worth = { usd: token.priceUsd, native: token.priceNative }
    return { worth, depthUsd: main.depthUsd, pair: main.pair, quote }
  }

  #isDeep(depthUsd: Value): boolean {
    return depthUsd > 0n && depthUsd >= this.#minDepthUsd
  }
}

function remembered(
  known: Map<string, Route | undefined>,
  token: string,
  find: () => Route | undefined,
): Route | undefined {
  if (!known.has(token)) known.set(token, find())
  return known.get(token)
}
