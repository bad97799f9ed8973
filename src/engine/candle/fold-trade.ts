import type { Candle, CandleValues } from '../../domain/change.ts'
import { candleStart, INTERVALS } from '../../domain/interval.ts'
import type { Price, Value } from '../../domain/money.ts'
import type { OrderKey } from '../../domain/order-key.ts'

/** What a candle takes from a trade: the price paid for one target token, and the trade's worth. */
export type CandleTrade = {
  readonly key: OrderKey
  readonly time: number
  readonly pair: string
  readonly priceUsd: Price | undefined
  readonly priceNative: Price | undefined
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
}

/** The pair's newest candle of every interval, after one more trade. Trades come in order-key order. */
export function foldTrade(newest: readonly Candle[], trade: CandleTrade): Candle[] {
  return INTERVALS.map((interval) => {
    const start = candleStart(interval, trade.time)
    const known = newest.find((candle) => candle.interval === interval)
    const current = known?.start === start ? known : undefined
    return {
      pair: trade.pair,
      interval,
      start,
      usd: extend(current?.usd, trade.priceUsd, trade.valueUsd),
      native: extend(current?.native, trade.priceNative, trade.valueNative),
      tradeCount: (current?.tradeCount ?? 0) + 1,
      firstTrade: current?.firstTrade ?? trade.key,
      lastTrade: trade.key,
    }
  })
}

function extend(
  values: CandleValues | undefined,
  price: Price | undefined,
  value: Value | undefined,
): CandleValues | undefined {
  if (price === undefined || value === undefined) return values
  if (values === undefined) return { open: price, high: price, low: price, close: price, volume: value }
  return {
    open: values.open,
    high: price > values.high ? price : values.high,
    low: price < values.low ? price : values.low,
    close: price,
    volume: values.volume + value,
  }
}
