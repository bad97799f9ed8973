import type { Log, TransactionReceipt } from 'viem'
import { amountValue, plus, UNKNOWN, type Worth } from './expected-numbers.ts'
import type { ExpectedPrices, Fraction, Priced, TokenInfo } from './expected-prices.ts'

export type ExpectedPool = {
  readonly id: string
  readonly amm: string
  readonly token0: TokenInfo
  readonly token1: TokenInfo
  /** Whether the first token is the one that is priced; undefined when neither is. */
  target0: boolean | undefined
  /** Its quote is no quote asset, but leads to one. */
  isRouted: boolean
  readonly createdAt: number
  updatedAt: number
  reserve0: bigint
  reserve1: bigint
  /** What it held first. */
  initial0: bigint | undefined
  initial1: bigint | undefined
  sqrtPriceX96: bigint | undefined
  /** A bonding curve keeps its price when what it held has left. */
  isCurve: boolean
  /** In use at the pool's price, if nothing but a swap can have changed it since. */
  liquidity: bigint | undefined
  /** Swaps that went beyond the end of somebody's range. */
  crossings: number
  /** By its own price after its last event. */
  prices: Priced
  tvl: Worth
  /** What its quote side is worth. */
  depthUsd: bigint | undefined
  fdvUsd: bigint | undefined
  last: ExpectedTrade | undefined
  firstTradeAt: number | undefined
  athUsd: bigint | undefined
}

/** Place in the chain, and signer. */
export type Origin = {
  readonly block: number
  readonly tx: number
  readonly log: number
  readonly time: number
  readonly transaction: string
  readonly wallet: string
}

type PoolEvent = Origin & {
  readonly pool: ExpectedPool
  readonly raw0: bigint
  readonly raw1: bigint
  /** What the event's amounts are worth. */
  readonly value: Worth
  /** The pool's state after the event. */
  readonly reserve0: bigint
  readonly reserve1: bigint
  readonly tvl: Worth
  readonly prices: Priced
}

/** Its prices are those that were paid. */
export type ExpectedTrade = PoolEvent & {
  readonly sender: string
  readonly recipient: string
  readonly isZeroSold: boolean
  readonly side: 'buy' | 'sell' | undefined
  /** The tokens whose windows it enters. */
  tokens: readonly string[]
}

export type LiquidityKind = 'addLiquidity' | 'removeLiquidity' | 'createPair' | 'collectFee'

export type ExpectedLiquidity = PoolEvent & { readonly kind: LiquidityKind; readonly provider: string }

/** All pools, what was traded in them, and what liquidity came and went. */
export class ExpectedPools {
  readonly all = new Map<string, ExpectedPool>()
  readonly trades: ExpectedTrade[] = []
  readonly liquidity: ExpectedLiquidity[] = []
  readonly #prices: ExpectedPrices
  readonly #supplies: ReadonlyMap<string, bigint>
  #touched = new Set<ExpectedPool>()

  constructor(prices: ExpectedPrices, supplies: ReadonlyMap<string, bigint>) {
    this.#prices = prices
    this.#supplies = supplies
  }

  /** Those that something happened to since this was asked last. */
  takeTouched(): ReadonlySet<ExpectedPool> {
    const touched = this.#touched
    this.#touched = new Set()
    return touched
  }

  create(origin: Origin, amm: string, id: string, token0: TokenInfo, token1: TokenInfo): ExpectedPool {
    const pool = this.meet(origin, amm, id, token0, token1)
    this.#add(pool, origin, 'createPair', '', 0n, 0n)
    return pool
  }

  /** A pool from before the first block, at its first event. */
  meet(origin: Origin, amm: string, id: string, token0: TokenInfo, token1: TokenInfo): ExpectedPool {
    const pool: ExpectedPool = {
      ...{ id, amm, token0, token1, target0: undefined, isRouted: false },
      ...{ createdAt: origin.time, updatedAt: origin.time },
      ...{ reserve0: 0n, reserve1: 0n, initial0: undefined, initial1: undefined },
      ...{ sqrtPriceX96: undefined, isCurve: false, liquidity: undefined, crossings: 0 },
      ...{ prices: { price0: UNKNOWN, price1: UNKNOWN }, tvl: UNKNOWN },
      ...{ depthUsd: undefined, fdvUsd: undefined },
      ...{ last: undefined, firstTradeAt: undefined, athUsd: undefined },
    }
    this.#orient(pool)
    this.all.set(id, pool)
    this.#touched.add(pool)
    return pool
  }

  /** A pool that has its target keeps it. */
  #orient(pool: ExpectedPool): void {
    pool.target0 ??= this.#prices.target0(pool)
    const quote = quoteOf(pool)
    pool.isRouted = quote !== undefined && !this.#prices.isQuoteAsset(quote.address)
  }

  /** After an event of its own: reserves and the root of its price are up to date. */
  reprice(pool: ExpectedPool, { time }: Origin): void {
    this.#orient(pool)
    this.#touched.add(pool)
    pool.updatedAt = time
    pool.initial0 ??= pool.reserve0 === 0n ? undefined : pool.reserve0
    pool.initial1 ??= pool.reserve1 === 0n ? undefined : pool.reserve1
    pool.prices = this.#prices.observe(pool, fractionOf(pool))
    const { price0, price1 } = pool.prices
    const { token0, token1, target0, reserve0, reserve1 } = pool
    if (target0 === undefined) return
    pool.tvl = {
      usd: plus(
        amountValue(reserve0, token0.decimals, price0.usd),
        amountValue(reserve1, token1.decimals, price1.usd),
      ),
      eth: plus(
        amountValue(reserve0, token0.decimals, price0.eth),
        amountValue(reserve1, token1.decimals, price1.eth),
      ),
    }
    pool.depthUsd = target0
      ? amountValue(reserve1, token1.decimals, price1.usd)
      : amountValue(reserve0, token0.decimals, price0.usd)
    const target = target0 ? token0 : token1
    const supply = this.#supplies.get(target.address)
    const targetUsd = target0 ? price0.usd : price1.usd
    pool.fdvUsd = supply === undefined ? undefined : amountValue(supply, target.decimals, targetUsd)
  }

  /** What came in is positive. */
  trade(
    pool: ExpectedPool,
    origin: Origin,
    [in0, in1]: readonly [bigint, bigint],
    sender: string,
    recipient: string,
  ): void {
    this.#orient(pool)
    const isZeroSold = in0 > 0n
    const raw0 = isZeroSold ? in0 : -in0
    const raw1 = isZeroSold ? -in1 : in1
    const prices = this.#prices.paid(pool, raw0, raw1)
    const { target0, reserve0, reserve1, tvl } = pool
    const trade: ExpectedTrade = {
      ...{ ...origin, pool, raw0, raw1, prices, reserve0, reserve1, tvl, isZeroSold },
      ...{ sender, recipient, tokens: [] },
      side: target0 === undefined ? undefined : isZeroSold === target0 ? 'sell' : 'buy',
      value: this.#valueOfTrade(pool, raw0, raw1, prices),
    }
    this.trades.push(trade)
    this.#touched.add(pool)
    pool.updatedAt = origin.time
    pool.firstTradeAt ??= origin.time
    pool.last = trade
    const paid = targetPrice(trade).usd
    if (paid !== undefined && paid > (pool.athUsd ?? 0n)) pool.athUsd = paid
  }

  /** Amounts are what came or went, whichever it was; an event that moves nothing is none. */
  moveLiquidity(
    pool: ExpectedPool,
    origin: Origin,
    kind: Exclude<LiquidityKind, 'createPair'>,
    provider: string,
    [raw0, raw1]: readonly [bigint, bigint],
  ): void {
    if (raw0 === 0n && raw1 === 0n) return
    this.#add(pool, origin, kind, provider, raw0 < 0n ? -raw0 : raw0, raw1 < 0n ? -raw1 : raw1)
  }

  #add(
    pool: ExpectedPool,
    origin: Origin,
    kind: LiquidityKind,
    provider: string,
    raw0: bigint,
    raw1: bigint,
  ): void {
    const { prices, reserve0, reserve1, tvl, token0, token1 } = pool
    const worth = (raw: bigint, { decimals }: TokenInfo, price: bigint | undefined): bigint | undefined =>
      raw === 0n ? 0n : amountValue(raw, decimals, price)
    const value = {
      usd: plus(worth(raw0, token0, prices.price0.usd), worth(raw1, token1, prices.price1.usd)),
      eth: plus(worth(raw0, token0, prices.price0.eth), worth(raw1, token1, prices.price1.eth)),
    }
    this.liquidity.push({
      ...{ ...origin, pool, kind, provider, raw0, raw1, prices, reserve0, reserve1, tvl, value },
    })
  }

  /** What was paid in the quote asset; in native coins the native coin itself, where that is what was traded. */
  #valueOfTrade(
    { token0, token1, target0 }: ExpectedPool,
    raw0: bigint,
    raw1: bigint,
    prices: Priced,
  ): Worth {
    if (target0 === undefined) return UNKNOWN
    const side0 = { raw: raw0, token: token0, price: prices.price0 }
    const side1 = { raw: raw1, token: token1, price: prices.price1 }
    const [target, quote] = target0 ? [side0, side1] : [side1, side0]
    const inNative = this.#prices.natives.includes(target.token.address) ? target : quote
    return {
      usd: amountValue(quote.raw, quote.token.decimals, quote.price.usd),
      eth: amountValue(inNative.raw, inNative.token.decimals, inNative.price.eth),
    }
  }
}

export function originOf(receipt: TransactionReceipt, { logIndex }: Log, time: number): Origin {
  return {
    block: Number(receipt.blockNumber),
    tx: receipt.transactionIndex,
    log: logIndex ?? -1,
    time,
    transaction: receipt.transactionHash,
    wallet: receipt.from.toLowerCase(),
  }
}

export function targetOf({ token0, token1, target0 }: ExpectedPool): TokenInfo | undefined {
  return target0 === undefined ? undefined : target0 ? token0 : token1
}

/** The side that the target is priced in. */
export function quoteOf({ token0, token1, target0 }: ExpectedPool): TokenInfo | undefined {
  return target0 === undefined ? undefined : target0 ? token1 : token0
}

/** Both sides that are priced: none without a target; by a route, the target alone. */
export function pricedTokens(pool: ExpectedPool): TokenInfo[] {
  if (pool.isRouted) return [pool.target0 ? pool.token0 : pool.token1]
  return pool.target0 === undefined ? [] : [pool.token0, pool.token1]
}

export function targetPrice({ pool: { target0 }, prices }: Pick<PoolEvent, 'pool' | 'prices'>): Worth {
  if (target0 === undefined) return UNKNOWN
  return target0 ? prices.price0 : prices.price1
}

/** What one base unit of the first token costs in base units of the second. */
function fractionOf({ amm, reserve0, reserve1, sqrtPriceX96, isCurve }: ExpectedPool): Fraction | undefined {
  // A pool that holds nothing has no price, whatever it was created with.
  if (reserve0 === 0n && reserve1 === 0n && !isCurve) return undefined
  if (amm === 'uniswap_v2') return { numerator: reserve1, denominator: reserve0 }
  if (sqrtPriceX96 === undefined) return undefined
  return { numerator: sqrtPriceX96 ** 2n, denominator: 2n ** 192n }
}
