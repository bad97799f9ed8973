import type { Trade } from '../../../../../../src/domain/change.ts'
import { MAX_FIXED } from '../../../../../../src/domain/limits.ts'
import type { Price } from '../../../../../../src/domain/money.ts'
import type { Contribution, Visit } from './contribution.ts'
import { ALL_PAIRS } from './subject.ts'

/** What the trades of one pair, or of a quote asset in all its pairs, come to in the block being folded. */
export type PairTrades = {
  readonly sums: Contribution
  readonly visits: readonly Visit[]
  readonly high: Price | undefined
  readonly low: Price | undefined
}

/** What the token counts for once the block is over, by one pair and by the token's main pair. */
export type Closes = Pick<Contribution, 'pairCloseUsd' | 'tokenCloseUsd'>

/** Gathers the trades of one pair, or of a quote asset in all its pairs, while a block is folded. */
class GatheredTrades {
  readonly #pair: string
  readonly #token: string
  readonly #wallets = new Map<string, { bought: boolean; sold: boolean }>()
  #buyUsd = 0n
  #sellUsd = 0n
  #buys = 0
  #sells = 0
  #amountRaw = 0n
  #high: Price | undefined
  #low: Price | undefined

  constructor(pair: string, token: string) {
    this.#pair = pair
    this.#token = token
  }

  /** `isBuy` is from the point of view of the token, which is the trade's target or its quote. */
  add({ sold, bought, valueUsd, wallet }: Trade, isBuy: boolean): void {
    const own = isBuy ? bought : sold
    if (isBuy) this.#buys++
    else this.#sells++
    const price = own.priceUsd
    // A trade with a price has a value, unless that does not fit: then no sum may fit while the trade is in it.
    const addedUsd = valueUsd ?? (price === undefined ? 0n : MAX_FIXED + 1n)
    if (isBuy) this.#buyUsd += addedUsd
    else this.#sellUsd += addedUsd
    this.#amountRaw += own.amountRaw
    if (price !== undefined) {
      if (this.#high === undefined || price > this.#high) this.#high = price
      if (this.#low === undefined || price < this.#low) this.#low = price
    }
    const did = this.#wallets.get(wallet)
    if (did === undefined) this.#wallets.set(wallet, { bought: isBuy, sold: !isBuy })
    else if (isBuy) did.bought = true
    else did.sold = true
  }

  finish(closes: Closes): PairTrades {
    const [pair, token] = [this.#pair, this.#token]
    const visits: Visit[] = []
    for (const [wallet, { bought, sold }] of this.#wallets) visits.push({ pair, token, wallet, bought, sold })
    const sums = {
      pair,
      token,
      buyUsd: this.#buyUsd,
      sellUsd: this.#sellUsd,
      buys: this.#buys,
      sells: this.#sells,
      amountRaw: this.#amountRaw,
      pairCloseUsd: closes.pairCloseUsd,
      tokenCloseUsd: closes.tokenCloseUsd,
    }
    return { sums, visits, high: this.#high, low: this.#low }
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
  add(trade: Trade, target: string): void {
    const isBuy = trade.side === 'buy'
    const quote = isBuy ? trade.sold.token : trade.bought.token
    gatheredOf(this.#pairs, trade.pair, trade.pair, target).add(trade, isBuy)
    gatheredOf(this.#quoteAssets, quote, ALL_PAIRS, quote).add(trade, !isBuy)
    if (this.#isQuoteAsset(target)) gatheredOf(this.#quoteAssets, target, ALL_PAIRS, target).add(trade, isBuy)
  }

  finish(
    closesOf: (pair: string) => Closes,
    closeOfToken: (token: string) => Price | undefined,
  ): PairTrades[] {
    const ofPairs = Array.from(this.#pairs, ([pair, gathered]) => gathered.finish(closesOf(pair)))
    const ofQuoteAssets = Array.from(this.#quoteAssets, ([token, gathered]) => {
      const close = closeOfToken(token)
      return gathered.finish({ pairCloseUsd: close, tokenCloseUsd: close })
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
