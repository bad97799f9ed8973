import { type Action, type Coin, ETHER, type TraderKind, type Wallet } from './actions.ts'
import { lend } from './arrivals.ts'
import {
  ARBITRAGEURS,
  anyOf,
  coinOf,
  depthUsd,
  heldBy,
  MAKERS,
  type MarketState,
  MOMENTUM,
  type ModelCoin,
  NOISE,
  poolPriceUsd,
  poolsPricing,
  trade,
  usdOf,
} from './market-state.ts'
import { amountUntil, CURVE_GOAL_ETHER, type ModelPool } from './pool-model.ts'
import { bell, between, chance, pickWeighted, skewed, unit } from './random.ts'

/** A trade is at most this share of what the pool holds. */
const MOST_OF_POOL = 0.06
/** Both fees of an arbitrage and what it should earn. */
const ARBITRAGE_GAP = 0.013
/** New tokens attract more trading for so many blocks. */
const YOUNG_BLOCKS = 900
/** A loan of a quote coin is enough for so many trades. */
const LOAN = 25
const POPULAR_LAUNCH = 1.4
const TREND_WEIGHT = 1 / 90
const MOOD_FADES = 0.997

/** Lets beliefs about every coin drift by one block. */
export function drift(state: MarketState): void {
  const { random } = state
  for (const coin of state.coins) {
    if (coin.volatility === 0) continue
    coin.mood = chance(random, 1 / 700) ? between(random, -1, 1) : coin.mood * MOOD_FADES
    const deepest = deepestPool(state, coin)
    // On its curve, and after a fraud has ended, no market maker has an opinion.
    if (deepest === undefined || deepest.spec.venue === 'curve') {
      if (deepest !== undefined) coin.fairUsd = poolPriceUsd(state, deepest)
    } else {
      const hype = coin.kind === 'rug' || coin.kind === 'trap' ? 0.0007 : 0
      coin.fairUsd *= 1 + coin.volatility * (bell(random) * 0.6 + coin.mood * 0.12) + hype
    }
    const price = deepest === undefined ? coin.fairUsd : poolPriceUsd(state, deepest)
    coin.trendUsd += (price - coin.trendUsd) * TREND_WEIGHT
  }
}

/** One decision of one trader; it may lead to no trade, or to two. */
export function act(state: MarketState, actions: Action[]): void {
  const coin = pickWeighted(state.random, state.coins, (one) => attention(state, one))
  if (coin === undefined) return
  const share = unit(state.random)
  if (share < 0.3) lean(state, actions, coin)
  else if (share < 0.58) arbitrage(state, actions, coin)
  else if (share < 0.77) followTrend(state, actions, coin)
  else tradeAtRandom(state, actions, coin)
}

function attention({ block }: MarketState, { popularity, bornAt, mood }: ModelCoin): number {
  const age = block - bornAt
  const youth = age < YOUNG_BLOCKS ? 4 * (1 - age / YOUNG_BLOCKS) : 0
  return popularity * (1 + youth + 2 * Math.abs(mood))
}

/** A market maker moves the deepest pool part of the way to what the coin is worth. */
function lean(state: MarketState, actions: Action[], coin: ModelCoin): void {
  const { random } = state
  const pool = deepestPool(state, coin)
  if (pool === undefined) return
  if (pool.spec.venue === 'curve') {
    tradeAtRandom(state, actions, coin)
    return
  }
  const now = poolPriceUsd(state, pool)
  const target = now + (coin.fairUsd - now) * between(random, 0.3, 0.8)
  const { sold, amount } = amountUntil(pool, target / usdOf(state, pool.spec.quote))
  order(state, actions, pool, 'maker', anyOf(random, MAKERS), sold, amount)
}

/** Buys where a coin is cheapest and sells it where it is dearest. */
function arbitrage(state: MarketState, actions: Action[], coin: ModelCoin): void {
  const pools = poolsPricing(state, coin.coin).filter(({ spec }) => spec.venue !== 'curve')
  pools.sort((a, b) => poolPriceUsd(state, a) - poolPriceUsd(state, b))
  const [cheap, dear] = [pools[0], pools.at(-1)]
  if (cheap === undefined || dear === undefined || coin.kind === 'trap') return
  const [low, high] = [poolPriceUsd(state, cheap), poolPriceUsd(state, dear)]
  if (high < low * (1 + ARBITRAGE_GAP)) return
  const wallet = anyOf(state.random, ARBITRAGEURS)
  const target = low + (high - low) * 0.5
  const { sold, amount } = amountUntil(cheap, target / usdOf(state, cheap.spec.quote))
  const bought = order(state, actions, cheap, 'arbitrage', wallet, sold, amount)
  if (bought !== undefined) order(state, actions, dear, 'arbitrage', wallet, coin.coin, bought)
}

/** Buys what rises, and sells what falls. */
function followTrend(state: MarketState, actions: Action[], coin: ModelCoin): void {
  const { random } = state
  const pool = deepestPool(state, coin)
  if (pool === undefined) return
  const isRising = poolPriceUsd(state, pool) * (1 + coin.mood * 0.02) >= coin.trendUsd
  if (pool.spec.venue === 'curve' && coin.popularity < POPULAR_LAUNCH) {
    tradeAtRandom(state, actions, coin)
    return
  }
  const wallet = anyOf(random, MOMENTUM)
  const share = skewed(random, 0.001, 0.02)
  if (isRising) buy(state, actions, pool, 'momentum', wallet, share)
  else sell(state, actions, pool, 'momentum', wallet, between(random, 0.3, 1))
}

function tradeAtRandom(state: MarketState, actions: Action[], coin: ModelCoin): void {
  const { random } = state
  const pool = pickWeighted(random, poolsPricing(state, coin.coin), (one) =>
    Math.max(depthUsd(state, one), 1),
  )
  if (pool === undefined) return
  const wallet = anyOf(random, NOISE)
  const isBuying = chance(random, eagerness(coin, pool) + coin.mood * 0.1)
  if (isBuying) buy(state, actions, pool, 'noise', wallet, skewed(random, 0.0002, 0.012))
  else sell(state, actions, pool, 'noise', wallet, between(random, 0.1, 1))
}

/** Frauds are advertised. Less popular tokens never leave their curve: their buyers sell again. */
function eagerness({ popularity, endsAt }: ModelCoin, { spec }: ModelPool): number {
  if (endsAt !== undefined) return 0.75
  if (spec.venue !== 'curve') return 0.5
  return popularity > POPULAR_LAUNCH ? 0.75 : 0.3
}

/** For a share of what the pool holds; of a curve, for a share of its goal. */
function buy(
  state: MarketState,
  actions: Action[],
  pool: ModelPool,
  by: TraderKind,
  wallet: Wallet,
  share: number,
): void {
  const { venue, quote } = pool.spec
  const amount = venue === 'curve' ? share * CURVE_GOAL_ETHER * 5 : share * pool.quote
  order(state, actions, pool, by, wallet, quote, amount)
}

function sell(
  state: MarketState,
  actions: Action[],
  pool: ModelPool,
  by: TraderKind,
  wallet: Wallet,
  share: number,
): void {
  const { base } = pool.spec
  if (coinOf(state, base).kind === 'trap') return
  order(state, actions, pool, by, wallet, base, heldBy(state, wallet, base) * share)
}

function order(
  state: MarketState,
  actions: Action[],
  pool: ModelPool,
  by: TraderKind,
  wallet: Wallet,
  sold: Coin,
  wanted: number,
): number | undefined {
  if (coinOf(state, pool.spec.base).kind === 'trap' && sold === pool.spec.base) return undefined
  const amount = Math.min(wanted, mostOf(pool, sold))
  const isPaying = sold === pool.spec.quote && sold !== ETHER
  if (isPaying && heldBy(state, wallet, sold) < amount * 1.1)
    lend(state, actions, sold, wallet, amount * LOAN)
  return trade(state, actions, { pool, by, wallet, sold, amount })
}

function mostOf({ spec, base, quote }: ModelPool, sold: Coin): number {
  // A curve takes whatever is left to raise, and a little more.
  if (spec.venue === 'curve') return sold === spec.base ? base : CURVE_GOAL_ETHER - quote + 0.01
  return (sold === spec.base ? base : quote) * MOST_OF_POOL
}

function deepestPool(state: MarketState, { coin }: ModelCoin): ModelPool | undefined {
  let deepest: ModelPool | undefined
  for (const pool of poolsPricing(state, coin))
    if (deepest === undefined || depthUsd(state, pool) > depthUsd(state, deepest)) deepest = pool
  return deepest
}
