import type { Trade } from '../../domain/change.ts'
import { MAX_FIXED } from '../../domain/limits.ts'
import type { Price } from '../../domain/money.ts'
import type { Contribution, Visit } from './contribution.ts'

/** What one pair's trades of the block being folded come to. */
export type PairTrades = {
  readonly sums: Contribution
  readonly visits: readonly Visit[]
  readonly high: Price | undefined
  readonly low: Price | undefined
}

/** What the target counts for once the block is over, by one pair and by the token's main pair. */
export type Closes = Pick<Contribution, 'pairCloseUsd' | 'tokenCloseUsd'>

/** Gathers the trades of one pair, while its block is folded. */
export class GatheredTrades {
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

  add({ side, sold, bought, valueUsd, wallet }: Trade): void {
    const isBuy = side === 'buy'
    const target = isBuy ? bought : sold
    if (isBuy) this.#buys++
    else this.#sells++
    const price = target.priceUsd
    // A trade with a price has a value, unless that does not fit: then no sum may fit while the trade is in it.
    const addedUsd = valueUsd ?? (price === undefined ? 0n : MAX_FIXED + 1n)
    if (isBuy) this.#buyUsd += addedUsd
    else this.#sellUsd += addedUsd
    this.#amountRaw += target.amountRaw
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
