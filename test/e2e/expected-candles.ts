import { amountValue, ONE, sane } from './expected-numbers.ts'
import { type ExpectedTrade, targetPrice } from './expected-pools.ts'

const SECONDS = {
  s1: 1,
  k1: 60,
  k5: 300,
  k15: 900,
  k30: 1_800,
  k60: 3_600,
  k120: 7_200,
  k240: 14_400,
  k1440: 86_400,
  k10080: 604_800,
} as const

export type IntervalName = keyof typeof SECONDS

export type Unit = 'usd' | 'eth' | 'quote'

export type Bar = {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
  readonly volume: bigint
}

export type ExpectedCandle = {
  readonly start: number
  readonly count: number
  readonly usd: Bar | undefined
  readonly eth: Bar | undefined
  readonly quote: Bar | undefined
}

export const INTERVAL_NAMES = Object.keys(SECONDS) as IntervalName[]

export function secondsOf(interval: IntervalName): number {
  return SECONDS[interval]
}

export function startOf(interval: IntervalName, time: number): number {
  if (interval !== 'k10080') return time - (time % SECONDS[interval])
  // The Monday of that week, by the calendar.
  const date = new Date(time * 1000)
  const daysSince = (date.getUTCDay() + 6) % 7
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() - daysSince) / 1000
}

/** Candles of one pair's trades, which are in chain order; oldest first. */
export function candlesOf(all: readonly ExpectedTrade[], interval: IntervalName): ExpectedCandle[] {
  const trades = all.filter(({ side }) => side !== undefined)
  const starts = [...new Set(trades.map(({ time }) => startOf(interval, time)))].sort((a, b) => a - b)
  return starts.map((start) => {
    const own = trades.filter(({ time }) => startOf(interval, time) === start)
    const bars = { usd: barOf(own, 'usd'), eth: barOf(own, 'eth'), quote: barOf(own, 'quote') }
    return { start, count: own.length, ...bars }
  })
}

function barOf(trades: readonly ExpectedTrade[], unit: Unit): Bar | undefined {
  const paid = trades.flatMap((trade) => {
    const { price, value } = unit === 'quote' ? inQuote(trade) : inCoin(trade, unit)
    return price === undefined || value === undefined ? [] : [{ price, value }]
  })
  const [first, last] = [paid[0], paid.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const sorted = paid.map(({ price }) => price).sort((a, b) => (a < b ? -1 : 1))
  return {
    open: first.price,
    high: sorted.at(-1) ?? 0n,
    low: sorted[0] ?? 0n,
    close: last.price,
    volume: paid.reduce((sum, { value }) => sum + value, 0n),
  }
}

type Paid = { readonly price: bigint | undefined; readonly value: bigint | undefined }

function inCoin(trade: ExpectedTrade, coin: 'usd' | 'eth'): Paid {
  return { price: targetPrice(trade)[coin], value: trade.value[coin] }
}

/** By the amounts alone: it does not matter what the pair's other token is worth. */
function inQuote({ pool: { target0, token0, token1 }, raw0, raw1 }: ExpectedTrade): Paid {
  const [target, targetRaw, quote, quoteRaw] =
    target0 === true ? [token0, raw0, token1, raw1] : [token1, raw1, token0, raw0]
  const targets = targetRaw * 10n ** BigInt(quote.decimals)
  const quotes = quoteRaw * 10n ** BigInt(target.decimals)
  return { price: sane((quotes * ONE) / targets), value: amountValue(quoteRaw, quote.decimals, ONE) }
}
