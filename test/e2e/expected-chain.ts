import { type ExpectedPool, ExpectedPools, type ExpectedTrade, pricedTokens } from './expected-pools.ts'
import { ExpectedPrices } from './expected-prices.ts'
import { ExpectedTokens } from './expected-tokens.ts'
import { type Close, type ExpectedWindows, windowsAt } from './expected-windows.ts'

export type BlockRef = { readonly number: number; readonly time: number }

/** Pools, prices, tokens and windows of a chain, from whatever a family's own reader of blocks puts into them. */
export class ExpectedChain {
  readonly prices: ExpectedPrices
  readonly pools: ExpectedPools
  readonly tokens: ExpectedTokens
  readonly supplies = new Map<string, bigint>()
  /** The newest block. */
  head: BlockRef = { number: 0, time: 0 }
  readonly #closes = new Map<string, Close[]>()
  /** Trades of the blocks that have ended. */
  #folded = 0

  constructor(stable: string, natives: readonly string[]) {
    this.prices = new ExpectedPrices(stable, natives)
    this.pools = new ExpectedPools(this.prices, this.supplies)
    this.tokens = new ExpectedTokens(this.prices, this.pools.all)
  }

  tradesOf(pair: string): ExpectedTrade[] {
    return this.pools.trades.filter(({ pool }) => pool.id === pair)
  }

  /** After the newest block, unless another is named. */
  pairWindows(pair: string, at: BlockRef = this.head): ExpectedWindows | undefined {
    const trades = this.tradesOf(pair).filter(({ side }) => side !== undefined)
    return this.#windows(pair, trades, at, ({ pool }) => pool.target0 === true)
  }

  tokenWindows(token: string, at: BlockRef = this.head): ExpectedWindows | undefined {
    const trades = this.pools.trades.filter(({ tokens }) => tokens.includes(token))
    return this.#windows(token, trades, at, ({ pool }) => pool.token0.address === token)
  }

  #windows(
    subject: string,
    trades: readonly ExpectedTrade[],
    { number, time }: BlockRef,
    isToken0: (trade: ExpectedTrade) => boolean,
  ): ExpectedWindows | undefined {
    return windowsAt(
      time,
      trades.filter(({ block }) => block <= number),
      (this.#closes.get(subject) ?? []).filter(({ block }) => block <= number),
      isToken0,
    )
  }

  protected endBlock(block: BlockRef): void {
    const { pools, prices, tokens } = this
    const settled = prices.endBlock().flatMap((id) => pools.all.get(id) ?? [])
    tokens.endBlock(new Set([...pools.takeTouched(), ...settled]), block)
    const trades = pools.trades.slice(this.#folded)
    for (const trade of trades) trade.tokens = trade.side === undefined ? [] : this.#tokensOf(trade.pool)
    const traded = new Set(trades.map(({ pool }) => pool))
    const exchanged = new Set(trades.flatMap((trade) => trade.tokens))
    for (const pool of traded) this.#close(pool.id, block, prices.countedWorth(pool).usd)
    for (const token of exchanged) this.#close(token, block, tokens.all.get(token)?.price.usd)
    prices.routes = tokens.routes()
    this.#folded = pools.trades.length
    this.head = block
  }

  /** By a route, a trade counts for the target's windows only while the pair is the main one. */
  #tokensOf(pool: ExpectedPool): string[] {
    const tokens = pricedTokens(pool).map(({ address }) => address)
    return tokens.filter((token) => !pool.isRouted || this.tokens.all.get(token)?.mainPair === pool)
  }

  #close(subject: string, { number, time }: BlockRef, usd: bigint | undefined): void {
    const closes = this.#closes.get(subject) ?? []
    closes.push({ block: number, time, usd })
    this.#closes.set(subject, closes)
  }
}
