import { MAX_FIXED } from '../../domain/limits.ts'
import type { Price, Value } from '../../domain/money.ts'
import type { FoldedTrade } from '../trade.ts'

/**
 * Stands for all pairs of a quote asset. Their trades are summed up as one subject, because there are too many pairs.
 */
export const ALL_PAIRS = ''

/** Sums over the trades of one pair, or of a quote asset in all its pairs, in the current block. */
export type PairTrades = {
  /** Or `ALL_PAIRS`. */
  readonly pair: string
  readonly token: string
  readonly buyUsd: Value
  readonly sellUsd: Value
  readonly buys: number
  readonly sells: number
  /** The amount of the token. */
  readonly amountRaw: bigint
  readonly highUsd: Price | undefined
  readonly lowUsd: Price | undefined
  /** The wallet of each trade, by its number. */
  readonly buyers: readonly number[]
  readonly sellers: readonly number[]
} & Closes

/** The token's price at the end of the block, from one pair and from the token's main pair. */
export type Closes = {
  readonly pairCloseUsd: Price | undefined
  readonly tokenCloseUsd: Price | undefined
  /** Whether the pair is priced by a route, and whether its trades enter the token's windows too. */
  readonly isRouted: boolean
  readonly isForToken: boolean
}

/** Sums up the trades of one pair, or of a quote asset in all its pairs, while a block is folded. */
class GatheredTrades {
  readonly pair: string
  readonly token: string
  buyUsd = 0n
  sellUsd = 0n
  buys = 0
  sells = 0
  amountRaw = 0n
  highUsd: Price | undefined
  lowUsd: Price | undefined
  readonly buyers: number[] = []
  readonly sellers: number[] = []
  pairCloseUsd: Price | undefined
  tokenCloseUsd: Price | undefined
  isRouted = false
  isForToken = true

  constructor(pair: string, token: string) {
    this.pair = pair
    this.token = token
  }

  /** `isBuy` is relative to the token, which is the trade's target or its quote. */
  add({ sold, bought, valueUsd }: FoldedTrade, wallet: number, isBuy: boolean): void {
    const own = isBuy ? bought : sold
    const price = own.priceUsd
    // A trade with a price has a value unless it exceeds the limit; then no window with this trade publishes a sum.
    const addedUsd = valueUsd ?? (price === undefined ? 0n : MAX_FIXED + 1n)
    if (isBuy) {
      this.buys++
      this.buyUsd += addedUsd
      this.buyers.push(wallet)
    } else {
      this.sells++
      this.sellUsd += addedUsd
      this.sellers.push(wallet)
    }
    this.amountRaw += own.amountRaw
    if (price !== undefined) {
      if (this.highUsd === undefined || price > this.highUsd) this.highUsd = price
      if (this.lowUsd === undefined || price < this.lowUsd) this.lowUsd = price
    }
  }

  finish({ pairCloseUsd, tokenCloseUsd, isRouted, isForToken }: Closes): PairTrades {
    this.isRouted = isRouted
    this.isForToken = isForToken
    this.pairCloseUsd = pairCloseUsd
    this.tokenCloseUsd = tokenCloseUsd
    return this
  }
}

/** The trades of the block being folded, by pair, and those of each quote asset over all its pairs. */
export class GatheredBlock {
  readonly #isQuoteAsset: (token: string) => boolean
  readonly #pairs = new Map<string, GatheredTrades>()
  readonly #quoteAssets = new Map<string, GatheredTrades>()

  constructor(isQuoteAsset: (token: string) => boolean) {
    this.#isQuoteAsset = isQuoteAsset
  }

  /** A trade of the pair's target token. */
  add(trade: FoldedTrade, wallet: number, pair: string, target: string): void {
    const isBuy = trade.side === 'buy'
    const quote = isBuy ? trade.sold.token : trade.bought.token
    gatheredOf(this.#pairs, pair, pair, target).add(trade, wallet, isBuy)
    // A pair keeps its target token, also if its quote is no quote asset any more.
    if (this.#isQuoteAsset(quote))
      gatheredOf(this.#quoteAssets, quote, ALL_PAIRS, quote).add(trade, wallet, !isBuy)
    if (!this.#isQuoteAsset(target)) return
    gatheredOf(this.#quoteAssets, target, ALL_PAIRS, target).add(trade, wallet, isBuy)
  }

  /** Notes a trade of an old block, without summing it up. */
  note(quote: string, pair: string, target: string): void {
    gatheredOf(this.#pairs, pair, pair, target)
    if (this.#isQuoteAsset(quote)) gatheredOf(this.#quoteAssets, quote, ALL_PAIRS, quote)
    if (this.#isQuoteAsset(target)) gatheredOf(this.#quoteAssets, target, ALL_PAIRS, target)
  }

  finish(
    closesOf: (pair: string) => Closes,
    closeOfToken: (token: string) => Price | undefined,
  ): PairTrades[] {
    const ofPairs = Array.from(this.#pairs, ([pair, gathered]) => gathered.finish(closesOf(pair)))
    const ofQuoteAssets = Array.from(this.#quoteAssets, ([token, gathered]) => {
      const close = closeOfToken(token)
      return gathered.finish({
        ...{ pairCloseUsd: close, tokenCloseUsd: close },
        ...{ isRouted: false, isForToken: true },
      })
    })
    return [...ofPairs, ...ofQuoteAssets]
  }
}

function gatheredOf(
  all: Map<string, GatheredTrades>,
  key: string,
  pair: string,
  token: string,
): GatheredTrades {
  const known = all.get(key)
  if (known !== undefined) return known
  const gathered = new GatheredTrades(pair, token)
  all.set(key, gathered)
  return gathered
}
