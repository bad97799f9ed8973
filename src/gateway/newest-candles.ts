import { ChaintapeError } from '../domain/errors.ts'
import { MAX_TIME } from '../domain/limits.ts'
import type { HistoryReader } from '../store/clickhouse/read/history-reader.ts'
import type { HotStore } from '../store/redis/hot-store.ts'
import { tradingOf } from './history-view.ts'

export type NewestCandlesOptions = {
  readonly hot: Pick<HotStore, 'candles' | 'pairs'>
  readonly history: Pick<HistoryReader, 'candles'>
}

/** The newest candle of each series: from ClickHouse where Redis has none of a pair that has traded. */
export function createNewestCandles({ hot, history }: NewestCandlesOptions): HotStore['candles'] {
  const expired = async (ref: Parameters<HotStore['candles']>[0][number]) => {
    const { chain, pair, interval } = ref
    const [document] = await hot.pairs([{ chain, address: pair }])
    if (document?.record.lastTradeAt === undefined) return undefined
    const [newest] = await history.candles({
      ...{ chain, pair, interval, from: 0, to: MAX_TIME, limit: 1 },
      // The writer writes rows first: whatever Redis has had is among them.
      upTo: Number.MAX_SAFE_INTEGER,
      activity: tradingOf(document.record),
    })
    return newest
  }
  return async (refs) => {
    const stored = await hot.candles(refs)
    return Promise.all(refs.map(async (ref, index) => stored[index] ?? expired(ref).catch(withoutHistory)))
  }
}

/** A subscription does not depend on ClickHouse: without it there is no first push. */
function withoutHistory(error: unknown): undefined {
  if (!(error instanceof ChaintapeError && error.code === 'store_unavailable')) throw error
}
