import { CountedPrice } from './counted-price.ts'
import type { TokenInfo } from './expected-market.ts'

export type Fraction = { readonly numerator: bigint; readonly denominator: bigint }

/** Dollars for one whole coin, with forty digits after the point. */
type PairWorth = { readonly target: bigint | undefined; readonly quote: bigint | undefined }

type Priced = {
  /** Whether the first token is the one that is priced; undefined when neither is. */
  readonly target0: boolean | undefined
  readonly worth: PairWorth | undefined
}

type TwoTokens = {
  readonly id: string
  readonly token0: TokenInfo
  readonly token1: TokenInfo
  readonly reserve0: bigint
  readonly reserve1: bigint
}

const ONE = 10n ** 40n
/** A thousand dollars, in base units of the stablecoin. */
const MIN_DEPTH = 1_000n * 10n ** 6n

/** The rules of docs/data-rules.md for dollars, written out again: one stablecoin, and the native coin by its names. */
export class ExpectedPrices {
  readonly #stable: string
  readonly #natives: readonly string[]
  /** What each pool of the stablecoin and the native coin says, and how deep it is. */
  readonly #anchors = new Map<string, { depth: bigint; readonly counted: CountedPrice }>()
  readonly #others = new Map<string, CountedPrice>()
  #nativeUsd: bigint | undefined

  constructor(stable: string, natives: readonly string[]) {
    this.#stable = stable
    this.#natives = natives
  }

  /** A pool has changed: what its tokens are worth by its price. */
  observe(pool: TwoTokens, fraction: Fraction | undefined): Priced {
    const target0 = this.#target0(pool)
    if (target0 === undefined) return { target0, worth: undefined }
    const { target, quote } = sides(pool, target0)
    const inQuote = fraction === undefined ? undefined : priceIn(fraction, pool, target0)
    if (quote.address === this.#stable && this.#natives.includes(target.address)) {
      const anchor = this.#anchors.get(pool.id) ?? { depth: 0n, counted: new CountedPrice() }
      this.#anchors.set(pool.id, anchor)
      anchor.depth = target0 ? pool.reserve1 : pool.reserve0
    }
    this.#countedOf(pool.id).ask(inQuote)
    return { target0, worth: this.#worth(quote.address, inQuote) }
  }

  /** What was paid in one trade. */
  paid(pool: TwoTokens, raw0: bigint, raw1: bigint): Priced {
    const target0 = this.#target0(pool)
    if (target0 === undefined) return { target0, worth: undefined }
    const inQuote = priceIn({ numerator: raw1, denominator: raw0 }, pool, target0)
    return { target0, worth: this.#worth(sides(pool, target0).quote.address, inQuote) }
  }

  #worth(quote: string, inQuote: bigint | undefined): PairWorth {
    const quoteUsd = quote === this.#stable ? ONE : this.nativeUsd()
    const isKnown = inQuote !== undefined && quoteUsd !== undefined
    return { target: isKnown ? (inQuote * quoteUsd) / ONE : undefined, quote: quoteUsd }
  }

  nativeUsd(): bigint | undefined {
    return this.#nativeUsd
  }

  /** Only now does what happened in the block count for others. Gives the pools where that changed something. */
  endBlock(): string[] {
    const all = [...this.#others, ...[...this.#anchors].map(([id, { counted }]) => [id, counted] as const)]
    const changed = all.filter(([, counted]) => counted.endBlock())
    const deep = [...this.#anchors.values()].filter(
      ({ depth, counted }) => depth >= MIN_DEPTH && counted.value !== undefined,
    )
    const total = deep.reduce((sum, { depth }) => sum + depth, 0n)
    let below = 0n
    this.#nativeUsd = deep
      .sort((a, b) => ((a.counted.value ?? 0n) < (b.counted.value ?? 0n) ? -1 : 1))
      .find(({ depth }) => {
        below += depth
        return below * 2n >= total
      })?.counted.value
    return changed.map(([id]) => id)
  }

  targetOf(pool: TwoTokens): string | undefined {
    const target0 = this.#target0(pool)
    return target0 === undefined ? undefined : sides(pool, target0).target.address
  }

  /** Of a pool's target, by what counts now. */
  targetUsd(pool: TwoTokens): bigint | undefined {
    const target0 = this.#target0(pool)
    if (target0 === undefined) return undefined
    return this.#worth(sides(pool, target0).quote.address, this.#countedOf(pool.id).value).target
  }

  #countedOf(id: string): CountedPrice {
    const known = this.#anchors.get(id)?.counted ?? this.#others.get(id) ?? new CountedPrice()
    if (!this.#anchors.has(id)) this.#others.set(id, known)
    return known
  }

  #target0({ token0, token1 }: TwoTokens): boolean | undefined {
    const ranks = [this.#stable, ...this.#natives]
    const [rank0, rank1] = [ranks.indexOf(token0.address), ranks.indexOf(token1.address)]
    if (rank0 === -1 && rank1 === -1) return undefined
    if (rank0 === -1 || rank1 === -1) return rank0 === -1
    return rank0 > rank1
  }
}

function sides({ token0, token1 }: TwoTokens, target0: boolean): { target: TokenInfo; quote: TokenInfo } {
  return target0 ? { target: token0, quote: token1 } : { target: token1, quote: token0 }
}

/** Whole quote coins for one whole target coin. */
function priceIn({ numerator, denominator }: Fraction, pool: TwoTokens, target0: boolean): bigint {
  const { target, quote } = sides(pool, target0)
  const [quoteRaw, targetRaw] = target0 ? [numerator, denominator] : [denominator, numerator]
  return (quoteRaw * 10n ** BigInt(40 + target.decimals)) / (targetRaw * 10n ** BigInt(quote.decimals))
}
