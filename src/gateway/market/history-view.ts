import type { Candle, EventRef, LiquidityEvent, MainPairSwitch, Trade } from '../../domain/change.ts'
import type { ChainAddress } from '../../domain/ids.ts'
import { candleStart } from '../../domain/interval.ts'
import { compareOrderKeys, formatOrderKey } from '../../domain/order-key.ts'
import type {
  Activity,
  EventPlace,
  HistoryReader,
  MatchesQuestion,
} from '../../store/clickhouse/read/history-reader.ts'
import type { HotStore, RecentCandles, Versioned } from '../../store/redis/hot-store.ts'
import type { SeriesRef } from '../../store/redis/keys.ts'
import type { FeedPosition } from './change-feed-follower.ts'
import { isUnavailable } from './joined-reads.ts'
import type { MarketView, Recent } from './market-view.ts'
import type { Overlay } from './overlay.ts'
import type { Version } from './overlay-documents.ts'

export type HistoryViewOptions = {
  readonly view: Pick<MarketView, 'recent' | 'reach'>
  readonly hot: Pick<HotStore, 'recentCandles'>
  readonly history: Pick<HistoryReader, 'candles' | 'trades' | 'liquidity' | 'switches' | 'tokenMatches'>
}

export type CandleRange = {
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly activity?: Activity | undefined
}

export type EventRange = {
  readonly before: EventPlace | undefined
  readonly limit: number
  readonly activity?: Activity | undefined
}

/** Newest first; every change set up to `end` is taken into account, and none after it. */
export type EventPage<T> = { readonly events: T[]; readonly end: FeedPosition }

/** The same for candles. */
export type CandlePage = { readonly candles: Versioned<Candle>[]; readonly end: FeedPosition }

/** History for REST, up to the latest change set: where ClickHouse is behind, the overlay continues. */
export type HistoryView = {
  /** The newest ones of the range, newest first. */
  candles(series: SeriesRef, range: CandleRange): Promise<CandlePage>
  /** The events right before a place, latest first. */
  trades(pair: ChainAddress, range: EventRange): Promise<EventPage<Trade>>
  liquidity(pair: ChainAddress, range: EventRange): Promise<EventPage<LiquidityEvent>>
  /** Changes of the main pair of a token, latest first, as of the writer's last batch. */
  switches(token: ChainAddress, limit: number): Promise<MainPairSwitch[]>
  /** Candidate tokens, as of the writer's last batch. */
  tokenMatches(question: MatchesQuestion): Promise<ChainAddress[]>
}

export function createHistoryView({ view, hot, history }: HistoryViewOptions): HistoryView {
  const events = async <T extends EventRef>(
    { chain, address }: ChainAddress,
    { before, limit, activity }: EventRange,
    overlaid: (overlay: Overlay) => ReadonlyMap<string, Version<T>>,
    ask: (question: Parameters<HistoryReader['trades']>[0]) => Promise<Versioned<T>[]>,
  ): Promise<EventPage<T>> => {
    const { standing, end } = await joined({
      recent: () => view.recent(chain),
      overlaid,
      ask: async (recent, wanted) => {
        await recent.mustHaveHistory()
        return ask({ chain, pair: address, upTo: recent.upTo, before, limit: wanted, activity })
      },
      idOf: ({ key }) => formatOrderKey(key),
      isWanted: ({ key }) => before === undefined || compareOrderKeys(key, before.key) < 0,
      newestFirst: (a, b) => compareOrderKeys(b.key, a.key),
      limit,
    })
    return { events: standing.map(({ record }) => record), end }
  }
  const recentCandles = async (series: SeriesRef, wanted: number): Promise<RecentCandles | undefined> => {
    const found = await hot.recentCandles(series, wanted)
    const seq = Math.max(0, ...(found?.candles ?? []).map((candle) => candle.seq))
    await view.reach(series.chain, seq, 'redis')
    return found
  }
  return {
    candles: async (series, { from, to, limit, activity }) => {
      const isInside = ({ start }: Candle): boolean => start >= from && start <= to
      const { standing: candles, end } = await joined({
        recent: () => view.recent(series.chain),
        overlaid: (overlay) => overlay.candles(series.pair, series.interval),
        ask: async (recent, wanted) => {
          const newest = recent.isWhole('redis')
            ? await recentCandles(series, wanted).catch(withoutRedis)
            : undefined
          const inside = (newest?.candles ?? []).filter(({ record }) => isInside(record))
          const isEnough =
            newest !== undefined &&
            (completeFrom(newest, wanted, firstStart(series, activity)) <= from || inside.length >= wanted)
          if (isEnough) return inside
          await recent.mustHaveHistory()
          return history.candles({ ...series, upTo: recent.upTo, from, to, limit: wanted, activity })
        },
        idOf: ({ start }) => start,
        isWanted: isInside,
        newestFirst: (a, b) => b.start - a.start,
        limit,
      })
      return { candles, end }
    },
    trades: (pair, range) =>
      events(
        pair,
        range,
        (overlay) => overlay.trades(pair.address),
        (question) => history.trades(question),
      ),
    liquidity: (pair, range) =>
      events(
        pair,
        range,
        (overlay) => overlay.liquidity(pair.address),
        (question) => history.liquidity(question),
      ),
    switches: async ({ chain, address }, limit) => {
      const recent = view.recent(chain)
      await recent.mustHaveHistory()
      const found = await history.switches({ chain, token: address, upTo: recent.upTo, limit })
      return found.map(({ record }) => record)
    },
    tokenMatches: (question) => history.tokenMatches(question),
  }
}

/** ClickHouse has all of them, too. */
function withoutRedis(error: unknown): undefined {
  if (!isUnavailable(error)) throw error
}

/** The start from which the hot store has every candle: 0 if that is where the pair's first one starts. */
function completeFrom({ from, candles }: RecentCandles, wanted: number, first: number | undefined): number {
  if (candles.length >= wanted) return candles.at(-1)?.record.start ?? from
  return first !== undefined && from <= first ? 0 : from
}

function firstStart({ interval }: SeriesRef, activity: Activity | undefined): number | undefined {
  return activity?.first === undefined ? undefined : candleStart(interval, activity.first)
}

type Joint<Id, T> = {
  readonly recent: () => Recent
  readonly overlaid: (overlay: Overlay) => ReadonlyMap<Id, Version<T>>
  /** The newest of what history has up to a version. */
  readonly ask: (recent: Recent, wanted: number) => Promise<Versioned<T>[]>
  readonly idOf: (record: T) => Id
  readonly isWanted: (record: T) => boolean
  readonly newestFirst: (a: T, b: T) => number
  readonly limit: number
}

/** The newest of what stands by history and overlay together, as of the moment of the question or later. */
async function joined<Id, T>(
  joint: Joint<Id, T>,
): Promise<{ readonly standing: Versioned<T>[]; readonly end: FeedPosition }> {
  const { recent, overlaid, ask, idOf, isWanted, newestFirst, limit } = joint
  for (;;) {
    const before = recent()
    // A copy: history takes its time, and the overlay may have forgotten by then what history had not been asked for.
    const versions = new Map<Id, Version<T>>(overlaid(before.overlay))
    // Rows that the overlay knows to be removed make room for older ones.
    const removed = removedOf(versions)
    const stored = await ask(before, limit + removed)
    const now = recent()
    // The overlay does not go on from there any more: the answer is as of the question.
    const hasMoved = now.adopted !== before.adopted
    // A row that came after the copy and has already left the overlay would be in neither.
    if (!hasMoved && now.upTo > before.end.seq) continue
    const take = (id: Id, version: Version<T>): void => {
      if (version.seq > (versions.get(id)?.seq ?? -1)) versions.set(id, version)
    }
    for (const version of stored) take(idOf(version.record), version)
    // A version that came meanwhile may have replaced the one that was asked for.
    if (!hasMoved) for (const [id, version] of overlaid(now.overlay)) take(id, version)
    const standing = [...versions.values()]
      .flatMap(({ seq, record }) => (record === undefined || !isWanted(record) ? [] : [{ seq, record }]))
      .sort((a, b) => newestFirst(a.record, b.record))
      .slice(0, limit)
    // Rows were removed meanwhile, so there may be more than these.
    if (standing.length === limit || removedOf(versions) === removed)
      return { standing, end: (hasMoved ? before : now).end }
  }
}

function removedOf(versions: ReadonlyMap<unknown, Version<unknown>>): number {
  let count = 0
  for (const { record } of versions.values()) if (record === undefined) count++
  return count
}
