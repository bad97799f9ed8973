import type { Candle } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { MAX_TIME } from '../../domain/limits.ts'
import type { HistoryReader } from '../../store/clickhouse/read/history-reader.ts'
import type { DocumentReads } from '../../store/document-reads.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'
import type { SeriesRef } from '../../store/redis/keys.ts'
import type { Versioned } from '../../store/versioned.ts'
import { StaleWhileRevalidateCache } from '../cache/stale-while-revalidate.ts'
import { tradingOf } from './activity.ts'

export type NewestCandlesOptions = {
  readonly hot: Pick<HotStore, 'candles' | 'pairs'>
  readonly history: Pick<HistoryReader, 'candles'>
  /** Whether ClickHouse has all candles of the chain that are not in the overlay. */
  readonly isWhole: (chain: string) => boolean
}

/**
 * A stale-while-revalidate cache. A series that only ClickHouse has is final: the next trade puts it into Redis again. Its
 * entries live longer than the ClickHouse timeout, because a read is repeated whenever the overlay shrinks meanwhile:
 * without the cache, reads would repeat forever while ClickHouse is slower than the overlay is pruned.
 */
const FRESH_MS = 30_000
const MAX_SERIES = 2_000

/** The newest candle of each series: from ClickHouse where Redis has none of a pair that has traded. */
export function createNewestCandles({ hot, history, isWhole }: NewestCandlesOptions): HotStore['candles'] {
  const cache = new StaleWhileRevalidateCache<Versioned<Candle> | undefined>({
    ...{ freshMs: FRESH_MS, staleMs: 2 * FRESH_MS, maxEntries: MAX_SERIES },
    now: performance.now.bind(performance),
  })
  const expired = (ref: SeriesRef) =>
    cache.get(`${ref.chain}/${ref.pair}/${ref.interval}`, () => newestCandleOf(ref, hot, history))
  return async (refs) => {
    const stored = await hot.candles(refs)
    return Promise.all(
      refs.map(async (ref, index) => {
        const found = stored[index]
        if (found !== undefined || !isWhole(ref.chain)) return found
        return expired(ref).catch(withoutHistory)
      }),
    )
  }
}

/** From ClickHouse, of a pair that has traded. */
export async function newestCandleOf(
  { chain, pair, interval }: SeriesRef,
  documents: Pick<DocumentReads, 'pairs'>,
  history: Pick<HistoryReader, 'candles'>,
): Promise<Versioned<Candle> | undefined> {
  const [document] = await documents.pairs([{ chain, address: pair }])
  if (document?.record.lastTradeAt === undefined) return undefined
  const [newest] = await history.candles({
    ...{ chain, pair, interval, from: 0, to: MAX_TIME, limit: 1 },
    upTo: Number.MAX_SAFE_INTEGER,
    activity: tradingOf(document.record),
  })
  return newest
}

/** A subscription does not depend on ClickHouse: without it there is no first push. */
function withoutHistory(error: unknown): undefined {
  if (!(error instanceof ChaintapeError && error.code === 'store_unavailable')) throw error
}
