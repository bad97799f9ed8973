import type { Candle, CandleValues } from '../../../../../../src/domain/change.ts'
import { candleStart, INTERVALS } from '../../../../../../src/domain/interval.ts'
import { sumOfValues } from '../../../../../../src/domain/limits.ts'
import type { Price, Value } from '../../../../../../src/domain/money.ts'
import type { OrderKey } from '../../../../../../src/domain/order-key.ts'

/** What a candle takes from a trade: the price paid for one target token, and the trade's worth, in each unit. */
export type CandleTrade = {
  readonly key: OrderKey
  readonly priceUsd: Price | undefined
  readonly priceNative: Price | undefined
  readonly priceQuote: Price | undefined
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
  readonly valueQuote: Value | undefined
}

/** The trades of a pair in one block: they have one time, so each of its candles takes them all. */
export type BlockTrades = Omit<Candle, 'pair' | 'interval' | 'start'>

/** The pair's trades of the block, with one more. They come in order-key order. */
export function withTrade(trades: BlockTrades | undefined, trade: CandleTrade): BlockTrades {
  return {
    usd: merged(trades?.usd, valuesOf(trade.priceUsd, trade.valueUsd)),
    native: merged(trades?.native, valuesOf(trade.priceNative, trade.valueNative)),
    quote: merged(trades?.quote, valuesOf(trade.priceQuote, trade.valueQuote)),
    tradeCount: (trades?.tradeCount ?? 0) + 1,
    firstTrade: trades?.firstTrade ?? trade.key,
    lastTrade: trade.key,
  }
}

/** Where the candles of all intervals start that hold `time`. */
export function candleStarts(time: number): number[] {
  return INTERVALS.map((interval) => candleStart(interval, time))
}

/** The pair's newest candle of every interval, after a block of trades; `starts` are those of the block's time. */
export function foldTrades(
  newest: readonly Candle[],
  pair: string,
  trades: BlockTrades,
  starts: readonly number[],
): Candle[] {
  const usd = new SharedMerge(trades.usd)
  const native = new SharedMerge(trades.native)
  const quote = new SharedMerge(trades.quote)
  return INTERVALS.map((interval, at) => {
    const start = starts[at] as number
    const known = newest[at]
    const current = known?.start === start ? known : undefined
    return {
      pair,
      interval,
      start,
      usd: usd.onto(current?.usd),
      native: native.onto(current?.native),
      quote: quote.onto(current?.quote),
      tradeCount: (current?.tradeCount ?? 0) + trades.tradeCount,
      firstTrade: current?.firstTrade ?? trades.firstTrade,
      lastTrade: trades.lastTrade,
    }
  })
}

/**
 * Candles that began with the same trade have the same values, and are neighbours: these are computed once, and
 * shared, which is also quick to see for whoever writes them down. Of most pairs there is but one trade to share.
 */
class SharedMerge {
  readonly #later: CandleValues | undefined
  #earlier: CandleValues | undefined
  #result: CandleValues | undefined

  constructor(later: CandleValues | undefined) {
    this.#later = later
    this.#result = later
  }

  onto(earlier: CandleValues | undefined): CandleValues | undefined {
    if (earlier !== this.#earlier) {
      this.#earlier = earlier
      this.#result = merged(earlier, this.#later)
    }
    return this.#result
  }
}

/** A trade whose price is known has a value, unless that is beyond the limits: then so is the candle's volume. */
function valuesOf(price: Price | undefined, value: Value | undefined): CandleValues | undefined {
  if (price === undefined) return undefined
  return { open: price, high: price, low: price, close: price, volume: value }
}

function merged(
  earlier: CandleValues | undefined,
  later: CandleValues | undefined,
): CandleValues | undefined {
  if (earlier === undefined || later === undefined) return earlier ?? later
  return {
    open: earlier.open,
    high: higher(earlier.high, later.high),
    low: lower(earlier.low, later.low),
    close: later.close,
    // A candle only grows, so a volume that does not fit stays unknown.
    volume: sumOfValues(earlier.volume, later.volume),
  }
}

function higher(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
