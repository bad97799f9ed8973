import type { Candle } from '../../domain/change.ts'
import { candleStart, type Interval, intervalSeconds } from '../../domain/interval.ts'
import { formatPrice } from '../../domain/money.ts'
import type { Versioned } from '../../store/redis/hot-store.ts'
import { valueText } from './wire-values.ts'

export const KLINE_UNITS = ['usd', 'eth', 'quote'] as const

export type KlineRow = {
  readonly time: number
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
  readonly count: number
  /** A larger one is newer; of an empty candle there is none. */
  readonly revision?: number
}

/** Oldest first; a candle whose prices are not known in this unit is left out. */
export function klineRows(
  candles: readonly Versioned<Candle>[],
  unit: (typeof KLINE_UNITS)[number],
): KlineRow[] {
  const rows = candles.flatMap(({ seq, record }): KlineRow[] => {
    const values = unit === 'eth' ? record.native : record[unit]
    if (values === undefined) return []
    return [
      {
        time: record.start,
        open: formatPrice(values.open),
        high: formatPrice(values.high),
        low: formatPrice(values.low),
        close: formatPrice(values.close),
        volume: valueText(values.volume),
        count: record.tradeCount,
        revision: seq,
      },
    ]
  })
  return rows.sort((a, b) => a.time - b.time)
}

/**
 * The newest `limit` of these rows and of the empty candles after each of them, up to the one that holds `until`: nothing
 * traded, at the last close. Made from the newest back, so that what lies further back is never made up.
 */
export function filledRows(
  rows: readonly KlineRow[],
  interval: Interval,
  until: number,
  limit: number,
): KlineRow[] {
  const seconds = intervalSeconds(interval)
  const filled: KlineRow[] = []
  let next = candleStart(interval, until) + seconds
  for (const row of rows.toReversed()) {
    const { close } = row
    for (let time = next - seconds; time > row.time && filled.length < limit; time -= seconds) {
      filled.push({ time, open: close, high: close, low: close, close, volume: '0', count: 0 })
    }
    if (filled.length === limit) break
    filled.push(row)
    next = row.time
  }
  return filled.reverse()
}
