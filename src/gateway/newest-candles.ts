import type { Candle } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { MAX_TIME } from '../domain/limits.ts'
import type { HistoryReader } from '../store/clickhouse/read/history-reader.ts'
import type { HotStore } from '../store/redis/hot-store.ts'
import type { SeriesRef } from '../store/redis/keys.ts'
import type { Versioned } from '../store/versioned.ts'
import { tradingOf } from './history-view.ts'
import { KeptReadings } from './kept-readings.ts'

export type NewestCandlesOptions = {
  readonly hot: Pick<HotStore, 'candles' | 'pairs'>
  readonly history: Pick<HistoryReader, 'candles'>
}

/**
 * A stale-while-revalidate cache. A series that only ClickHouse has is final: the next trade puts it into Redis again. Its
 * entries live longer than the ClickHouse timeout, because a read is repeated whenever the overlay shrinks meanwhile:
 * without the cache, reads would repeat forever while ClickHouse is slower than the overlay is pruned.
 */
const KEPT_MS = 60_000
const MAX_KEPT = 2_000

/** The newest candle of each series: from ClickHouse where Redis has none of a pair that has traded. */
export function createNewestCandles({ hot, history }: NewestCandlesOptions): HotStore['candles'] {
  const kept = new KeptReadings<Versioned<Candle> | undefined>({
    ...{ keptMs: KEPT_MS, maxReadings: MAX_KEPT, now: performance.now.bind(performance) },
  })
  const read = async (ref: SeriesRef) => {
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
  const expired = (ref: SeriesRef) => kept.get(`${ref.chain}/${ref.pair}/${ref.interval}`, () => read(ref))
  return async (refs) => {
    const stored = await hot.candles(refs)
    return Promise.all(refs.map(async (ref, index) => stored[index] ?? expired(ref).catch(withoutHistory)))
  }
}

/** A subscription does not depend on ClickHouse: without it there is no first push. */
function withoutHistory(error: unknown): undefined {
  if (!(error instanceof ChaintapeError && error.code === 'store_unavailable')) throw error
}
