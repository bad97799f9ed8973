import {
  type Action,
  type Coin,
  DOLLAR,
  ETHER,
  type PoolSpec,
  type TraderKind,
  type Wallet,
} from './actions.ts'
import { CURVE_GOAL_ETHER, CURVE_SUPPLY, type ModelPool, priceOf, swap } from './pool-model.ts'
import { type Random, seeded, whole } from './random.ts'

export type CoinKind = 'quote' | 'established' | 'launched' | 'rug' | 'trap'

export type ModelCoin = {
  readonly coin: Coin
  readonly kind: CoinKind
  readonly symbol: string
  readonly decimals: number
  readonly bornAt: number
  /** How much of the trading it attracts. */
  readonly popularity: number
  /** Standard deviation of its value over a block. */
  readonly volatility: number
  /** What market makers believe it is worth, in dollars. */
  fairUsd: number
  /** From -1 (everybody sells) to 1. */
  mood: number
  /** A slow average of its price, by which traders see a trend. */
  trendUsd: number
  /** Has what nobody else has, and lends it to market makers and arbitrageurs. */
  readonly creator: Wallet
  /** Pools that price it. */
  readonly pools: number[]
  /** The block in which its creator takes everything out. */
  readonly endsAt: number | undefined
}

/** A whole market as plain data: `structuredClone` copies it, and the copy continues as the original would. */
export type MarketState = {
  readonly random: Random
  /** Blocks so far. */
  block: number
  readonly coins: ModelCoin[]
  readonly pools: ModelPool[]
  /** By wallet and coin, in whole coins; ether is not counted. */
  readonly holdings: number[][]
  /** Blocks in which later tokens of the first week arrive. */
  readonly arrivals: number[]
}

/** Wallets by their trade. The first deploys the exchanges. */
export const PROVIDERS = { first: 1, last: 12 } as const
export const MAKERS = { first: 13, last: 20 } as const
export const ARBITRAGEURS = { first: 21, last: 26 } as const
export const MOMENTUM = { first: 27, last: 60 } as const
export const NOISE = { first: 61, last: 159 } as const
export const WALLETS = NOISE.last + 1

/** A wallet never sells the last of a coin: the model's balances are not exact. */
const SELLABLE = 0.97
const SMALLEST_TRADE_USD = 2

export function emptyMarket(seed: number): MarketState {
  return {
    random: seeded(seed),
    block: 0,
    coins: [],
    pools: [],
    holdings: Array.from({ length: WALLETS }, () => []),
    arrivals: [],
  }
}

export function anyOf(
  random: Random,
  { first, last }: { readonly first: Wallet; readonly last: Wallet },
): Wallet {
  return whole(random, first, last)
}

export function coinOf({ coins }: MarketState, coin: Coin): ModelCoin {
  const found = coins[coin]
  if (found === undefined) throw new Error(`no coin ${coin}`)
  return found
}

export function poolOf({ pools }: MarketState, pool: number): ModelPool {
  const found = pools[pool]
  if (found === undefined) throw new Error(`no pool ${pool}`)
  return found
}

/** Open pools that price a coin. */
export function poolsPricing(state: MarketState, coin: Coin): ModelPool[] {
  return coinOf(state, coin)
    .pools.map((pool) => poolOf(state, pool))
    .filter(({ isOpen }) => isOpen)
}

export function addPool(state: MarketState, pool: ModelPool): void {
  state.pools.push(pool)
  coinOf(state, pool.spec.base).pools.push(pool.spec.pool)
}

export function usdOf(state: MarketState, coin: Coin): number {
  return coin === DOLLAR ? 1 : coinOf(state, coin).fairUsd
}

export function poolPriceUsd(state: MarketState, pool: ModelPool): number {
  return priceOf(pool) * usdOf(state, pool.spec.quote)
}

export function depthUsd(state: MarketState, { quote, spec }: ModelPool): number {
  return quote * usdOf(state, spec.quote)
}

export function heldBy({ holdings }: MarketState, wallet: Wallet, coin: Coin): number {
  return holdings[wallet]?.[coin] ?? 0
}

export function credit({ holdings }: MarketState, wallet: Wallet, coin: Coin, amount: number): void {
  const own = holdings[wallet]
  if (own !== undefined) own[coin] = (own[coin] ?? 0) + amount
}

/** In base units, cut off after twelve digits of a coin. */
export function rawOf(state: MarketState, coin: Coin, amount: number): bigint {
  return toRaw(amount, coinOf(state, coin).decimals)
}

export function toRaw(amount: number, decimals: number): bigint {
  const digits = Math.min(decimals, 12)
  return BigInt(Math.floor(amount * 10 ** digits)) * 10n ** BigInt(decimals - digits)
}

export type Order = {
  readonly pool: ModelPool
  readonly by: TraderKind
  readonly wallet: Wallet
  readonly sold: Coin
  readonly amount: number
}

/** Lets a wallet trade as much of it as it has. Returns what it got; undefined if that would be next to nothing. */
export function trade(state: MarketState, actions: Action[], order: Order): number | undefined {
  const { pool, by, wallet, sold } = order
  const { base, quote, venue } = pool.spec
  const limit = sold === ETHER ? Number.POSITIVE_INFINITY : heldBy(state, wallet, sold) * SELLABLE
  const amount = Math.min(order.amount, limit)
  const raw = rawOf(state, sold, amount)
  if (!(amount * usdOf(state, sold) >= SMALLEST_TRADE_USD) || raw === 0n) return undefined
  const out = swap(pool, sold, amount)
  const bought = sold === base ? quote : base
  if (sold !== ETHER) credit(state, wallet, sold, -amount)
  if (bought !== ETHER) credit(state, wallet, bought, out)
  const graduatesTo = venue === 'curve' && pool.quote >= CURVE_GOAL_ETHER ? graduate(state, pool) : undefined
  actions.push({
    type: 'swap',
    pool: pool.spec.pool,
    by,
    wallet,
    sold,
    raw,
    ...(graduatesTo && { graduatesTo }),
  })
  return out
}

/** As the launchpad does: everything raised, and the tokens that were not for sale, become a V2 pool. */
function graduate(state: MarketState, curve: ModelPool): PoolSpec {
  const { base } = curve.spec
  const spec = {
    pool: state.pools.length,
    venue: 'v2',
    base,
    quote: ETHER,
    fee: 3_000,
    provider: undefined,
  } as const
  const depth = curve.quote * usdOf(state, ETHER)
  addPool(state, { spec, base: CURVE_SUPPLY / 5, quote: curve.quote, depthUsd: depth, isOpen: true })
  curve.isOpen = false
  curve.base = 0
  curve.quote = 0
  return spec
}
