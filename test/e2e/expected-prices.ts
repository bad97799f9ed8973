import { CountedPrice } from './counted-price.ts'
import { ONE, sane, times, UNKNOWN, type Worth } from './expected-numbers.ts'

export type TokenInfo = {
  readonly address: string
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}

export type Fraction = { readonly numerator: bigint; readonly denominator: bigint }

/** What a pair's two tokens are worth by some price. */
export type Priced = { readonly price0: Worth; readonly price1: Worth }

export type TwoTokens = {
  readonly id: string
  /** Whether the first token is the one that is priced; undefined when neither is. */
  readonly target0: boolean | undefined
  readonly token0: TokenInfo
  readonly token1: TokenInfo
  readonly reserve0: bigint
  readonly reserve1: bigint
}

/** What a token that is no quote asset was worth when the previous block ended, and how deep the way to one was. */
export type Route = { readonly worth: Worth; readonly depthUsd: bigint }

/** A thousand dollars, in base units of the stablecoin. */
const MIN_DEPTH = 1_000n * 10n ** 6n

/** The rules of docs/data-rules.md for prices, written out again: one stablecoin, and the native coin by its names. */
export class ExpectedPrices {
  readonly stable: string
  readonly natives: readonly string[]
  /** How deep each pool of the stablecoin and the native coin is. */
  readonly #anchorDepths = new Map<string, bigint>()
  readonly #counted = new Map<string, CountedPrice>()
  nativeUsd: bigint | undefined
  /** By token. */
  routes: ReadonlyMap<string, Route> = new Map()

  constructor(stable: string, natives: readonly string[]) {
    this.stable = stable
    this.natives = natives
  }

  /** A pool has changed: what its tokens are worth by its price. */
  observe(pool: TwoTokens, fraction: Fraction | undefined): Priced {
    const { target0 } = pool
    if (target0 === undefined) return { price0: UNKNOWN, price1: UNKNOWN }
    const { target, quote } = sides(pool, target0)
    const inQuote = fraction === undefined ? undefined : priceIn(fraction, pool, target0)
    if (quote.address === this.stable && this.natives.includes(target.address)) {
      this.#anchorDepths.set(pool.id, target0 ? pool.reserve1 : pool.reserve0)
    }
    this.#countedOf(pool.id).ask(inQuote)
    return this.#priced(pool, target0, inQuote)
  }

  /** What was paid in one trade. */
  paid(pool: TwoTokens, raw0: bigint, raw1: bigint): Priced {
    const { target0 } = pool
    if (target0 === undefined) return { price0: UNKNOWN, price1: UNKNOWN }
    return this.#priced(pool, target0, priceIn({ numerator: raw1, denominator: raw0 }, pool, target0))
  }

  isQuoteAsset(token: string): boolean {
    return token === this.stable || this.natives.includes(token)
  }

  /** Price of a quote asset, or of a token with a route; that of any other token is unknown. */
  worthOf(token: string): Worth {
    if (this.natives.includes(token)) return { usd: this.nativeUsd, eth: ONE }
    if (token !== this.stable) return this.routes.get(token)?.worth ?? UNKNOWN
    return { usd: ONE, eth: this.nativeUsd === undefined ? undefined : sane(ONE ** 2n / this.nativeUsd) }
  }

  /** Only now does what happened in the block count for others. Gives the pools where that changed something. */
  endBlock(): string[] {
    const changed = [...this.#counted].filter(([, counted]) => counted.endBlock())
    const deep = [...this.#anchorDepths].flatMap(([id, depth]) => {
      const price = this.#countedOf(id).value
      return depth < MIN_DEPTH || price === undefined ? [] : [{ depth, price }]
    })
    const total = deep.reduce((sum, { depth }) => sum + depth, 0n)
    let below = 0n
    this.nativeUsd = deep
      .sort((a, b) => (a.price < b.price ? -1 : 1))
      .find(({ depth }) => {
        below += depth
        return below * 2n >= total
      })?.price
    return changed.map(([id]) => id)
  }

  /** Price of a pool's target, by the current reference prices. */
  countedWorth(pool: TwoTokens): Worth {
    const { target0 } = pool
    if (target0 === undefined) return UNKNOWN
    const { price0, price1 } = this.#priced(pool, target0, this.#countedOf(pool.id).value)
    return target0 ? price0 : price1
  }

  /** Whether the first token is the one that is priced now; undefined when neither can be. */
  target0({ token0, token1 }: Pick<TwoTokens, 'token0' | 'token1'>): boolean | undefined {
    const ranks = [this.stable, ...this.natives]
    const [rank0, rank1] = [ranks.indexOf(token0.address), ranks.indexOf(token1.address)]
    if (rank0 === -1 && rank1 === -1) return this.#isFirstShallower(token0.address, token1.address)
    if (rank0 === -1 || rank1 === -1) return rank0 === -1
    return rank0 > rank1
  }

  /** Without a quote asset, the token with the deeper route is the quote. */
  #isFirstShallower(first: string, second: string): boolean | undefined {
    const [depth0, depth1] = [first, second].map((token) => this.routes.get(token)?.depthUsd)
    if (depth0 === undefined || depth1 === undefined)
      return depth0 === depth1 ? undefined : depth0 === undefined
    return depth0 === depth1 ? first > second : depth0 < depth1
  }

  #priced(pool: TwoTokens, target0: boolean, inQuote: bigint | undefined): Priced {
    const { target, quote } = sides(pool, target0)
    const quoteWorth = this.worthOf(quote.address)
    const targetWorth = {
      usd: times(inQuote, quoteWorth.usd),
      eth: this.natives.includes(target.address) ? ONE : times(inQuote, quoteWorth.eth),
    }
    return target0 ? { price0: targetWorth, price1: quoteWorth } : { price0: quoteWorth, price1: targetWorth }
  }

  #countedOf(id: string): CountedPrice {
    const known = this.#counted.get(id) ?? new CountedPrice()
    this.#counted.set(id, known)
    return known
  }
}

function sides({ token0, token1 }: TwoTokens, target0: boolean): { target: TokenInfo; quote: TokenInfo } {
  return target0 ? { target: token0, quote: token1 } : { target: token1, quote: token0 }
}

/** Whole quote coins for one whole target coin. */
function priceIn(
  { numerator, denominator }: Fraction,
  pool: TwoTokens,
  target0: boolean,
): bigint | undefined {
  const { target, quote } = sides(pool, target0)
  const [quoteRaw, targetRaw] = target0 ? [numerator, denominator] : [denominator, numerator]
  return sane((quoteRaw * 10n ** BigInt(40 + target.decimals)) / (targetRaw * 10n ** BigInt(quote.decimals)))
}
