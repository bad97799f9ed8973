import type { Token, WindowSums, Windows } from './change.ts'
import { sumOfValues } from './limits.ts'
import { pow10, VALUE_DIGITS, type Value } from './money.ts'
import { sumsOf, type WindowName } from './window.ts'

/**
 * Ranks tokens by recent trading, weighted by the wallets behind it and discounted for wash trading. The formula is
 * published in docs/trending.md with examples, so any change here needs a new version. It uses integers only, so that
 * every implementation gets the same result.
 */
export const TRENDING_VERSION = 1

/** In the published order. A thousand points are one doubling; the last five factors are never positive. */
export const TRENDING_FACTORS = [
  'makers',
  'volume',
  'liquidity',
  'youth',
  'trades_per_maker',
  'volume_per_maker',
  'turnover',
  'symmetry',
  'risk',
] as const

export type TrendingFactors = Readonly<Record<(typeof TRENDING_FACTORS)[number], number>>

export type TrendingScore = { readonly score: number; readonly factors: TrendingFactors }

const DOUBLING = 1_000
const DOLLAR: Value = pow10(VALUE_DIGITS)

/** Weights in eighths: recent trading counts most. */
const WINDOW_EIGHTHS: readonly (readonly [WindowName, number])[] = [
  ['1h', 5],
  ['4h', 2],
  ['24h', 1],
]
const MAKERS_WEIGHT = 2
const MOST_LIQUIDITY_POINTS = 10_000
const MOST_YOUTH_POINTS = 8_000
const HOUR_SECONDS = 3_600

/** The price of a shallower main pair is too easy to manipulate. */
const LEAST_LIQUIDITY = 1_000n * DOLLAR
/** Volume needed per counted wallet, so that splitting trades over many wallets gains nothing. */
const LEAST_PER_MAKER = 10n * DOLLAR

/** Above these ratios volume earns no points, and every further doubling costs points. */
const TRADES_PER_MAKER = 10n
const VOLUME_PER_MAKER = 10_000n * DOLLAR
const VOLUME_PER_LIQUIDITY = 20n
const TRADES_PER_MAKER_WEIGHT = 4
const VOLUME_PER_MAKER_WEIGHT = 2
const TURNOVER_WEIGHT = 2

/** Reached when every wallet is on both sides and purchases equal sales. */
const MOST_SYMMETRY_POINTS = 20_000n
const USUAL_BOTH_SIDED_PERMILLE = 500n
const UNUSUAL_IMBALANCE_PERMILLE = 50n
const RISK_WEIGHT = 100

/** Wash trading (DefiLlama's rule): a few wallets that trade with themselves all day. */
const WASH_RULES = [
  { volume: 0n, trades: 500n, volumePerMaker: 0n, tradesPerMaker: 100n },
  { volume: 1_000_000n * DOLLAR, trades: 0n, volumePerMaker: 500_000n * DOLLAR, tradesPerMaker: 30n },
]

/** Undefined for tokens that are not ranked. `now` is the time of the chain's head. */
export function trendingScore(
  token: Pick<Token, 'mainPairTvlUsd' | 'launch' | 'origin' | 'risk'>,
  windows: Windows,
  now: number,
): TrendingScore | undefined {
  const liquidity = token.mainPairTvlUsd
  if (liquidity === undefined || liquidity < LEAST_LIQUIDITY) return undefined
  const day = sumsOf(windows, '24h')
  // The day contains the shorter windows, so a known day volume means theirs are known.
  if (sumOfValues(day.buyUsd, day.sellUsd) === undefined) return undefined
  if (token.risk?.isHoneypot === true || isWashed(day)) return undefined
  const volumePoints = recent(windows, (sums) => doublings(1n + countedVolume(sums, liquidity) / DOLLAR))
  if (volumePoints === 0) return undefined

  const [makers, volume] = [BigInt(Math.max(1, day.makers)), volumeOf(day)]
  const factors: TrendingFactors = {
    makers: recent(windows, (sums) => MAKERS_WEIGHT * doublings(1n + countedMakers(sums))),
    volume: volumePoints,
    liquidity: Math.min(MOST_LIQUIDITY_POINTS, doublings(liquidity, LEAST_LIQUIDITY)),
    youth: youthPoints(token.launch?.time ?? token.origin?.time, now),
    trades_per_maker: 0 - TRADES_PER_MAKER_WEIGHT * doublings(tradesOf(day), makers * TRADES_PER_MAKER),
    volume_per_maker: 0 - VOLUME_PER_MAKER_WEIGHT * doublings(volume, makers * VOLUME_PER_MAKER),
    turnover: 0 - TURNOVER_WEIGHT * doublings(volume, liquidity * VOLUME_PER_LIQUIDITY),
    symmetry: 0 - symmetryPoints(day),
    risk: 0 - RISK_WEIGHT * (token.risk?.score ?? 0),
  }
  const score = Object.values(factors).reduce((sum, points) => sum + points, 0)
  return score > 0 ? { score, factors } : undefined
}

/**
 * How often `base` doubles to reach `size`, in thousandths: exact at powers of two and linear between them. 0 up to the
 * base.
 */
export function doublings(size: bigint, base = 1n): number {
  if (size <= base) return 0
  let whole = bitLength(size) - bitLength(base)
  if (base << BigInt(whole) > size) whole--
  const reached = base << BigInt(whole)
  return whole * DOUBLING + Number(((size - reached) * BigInt(DOUBLING)) / reached)
}

function recent(windows: Windows, pointsOf: (sums: WindowSums) => number): number {
  let eighths = 0
  for (const [window, weight] of WINDOW_EIGHTHS) eighths += weight * pointsOf(sumsOf(windows, window))
  return Math.floor(eighths / 8)
}

function countedMakers(sums: WindowSums): bigint {
  return smallest(BigInt(sums.makers), volumeOf(sums) / LEAST_PER_MAKER)
}

function countedVolume(sums: WindowSums, liquidity: Value): Value {
  const forMakers = BigInt(sums.makers) * VOLUME_PER_MAKER
  return smallest(volumeOf(sums), forMakers, liquidity * VOLUME_PER_LIQUIDITY)
}

function youthPoints(bornAt: number | undefined, now: number): number {
  if (bornAt === undefined) return 0
  const hours = Math.floor(Math.max(0, now - bornAt) / HOUR_SECONDS)
  return Math.max(0, MOST_YOUTH_POINTS - doublings(1n + BigInt(hours)))
}

/** Wallets on both sides are usual, and so are balanced volumes; both at once are not. */
function symmetryPoints({ makers, buyers, sellers, buyUsd = 0n, sellUsd = 0n }: WindowSums): number {
  const volume = buyUsd + sellUsd
  if (makers === 0 || volume === 0n) return 0
  const bothSided = (BigInt(buyers + sellers - makers) * 1_000n) / BigInt(makers)
  const imbalance = ((buyUsd > sellUsd ? buyUsd - sellUsd : sellUsd - buyUsd) * 1_000n) / volume
  const unusual = bothSided - USUAL_BOTH_SIDED_PERMILLE
  const even = UNUSUAL_IMBALANCE_PERMILLE - imbalance
  if (unusual <= 0n || even <= 0n) return 0
  const most = (1_000n - USUAL_BOTH_SIDED_PERMILLE) * UNUSUAL_IMBALANCE_PERMILLE
  return Number((MOST_SYMMETRY_POINTS * unusual * even) / most)
}

function isWashed(day: WindowSums): boolean {
  const [makers, trades, volume] = [BigInt(Math.max(1, day.makers)), tradesOf(day), volumeOf(day)]
  return WASH_RULES.some(
    (rule) =>
      volume >= rule.volume &&
      trades >= rule.trades &&
      volume >= rule.volumePerMaker * makers &&
      trades >= rule.tradesPerMaker * makers,
  )
}

function volumeOf({ buyUsd = 0n, sellUsd = 0n }: WindowSums): Value {
  return buyUsd + sellUsd
}

function tradesOf({ buys, sells }: WindowSums): bigint {
  return BigInt(buys + sells)
}

function smallest(first: bigint, ...others: readonly bigint[]): bigint {
  let least = first
  for (const other of others) if (other < least) least = other
  return least
}

function bitLength(positive: bigint): number {
  return positive.toString(2).length
}
