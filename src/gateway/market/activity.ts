import type { Pair } from '../../domain/change.ts'
import type { Activity } from '../../store/clickhouse/read/history-reader.ts'

/** When a pair traded, which its candles follow. */
export function tradingOf({ firstTradeAt, lastTradeAt }: Pair): Activity {
  return { first: firstTradeAt, last: lastTradeAt }
}

/** When liquidity of a pair may have changed. */
export function existenceOf({ createdAt, updatedAt }: Pair): Activity {
  return { first: createdAt, last: updatedAt }
}
