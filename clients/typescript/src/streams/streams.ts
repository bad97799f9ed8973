import type { RestMethods } from '../generated/operations.ts'
import { Hosts } from '../hosts.ts'
import { type Interval, splitId } from '../ids.ts'
import type { ReconnectEvent } from './connection.ts'
import {
  type HistoryEvent,
  type HistoryStart,
  MAX_HISTORY,
  readCandles,
  readEvents,
  secondsOf,
} from './history.ts'
import {
  type CandleRetraction,
  type CandleUnit,
  type CandleUpdate,
  candleDecoder,
  decodeLiquidity,
  decodePrices,
  decodeSwitch,
  decodeTrade,
  isRetraction,
  type LiquidityChange,
  type MainPairSwitch,
  type PriceEntry,
  type Retraction,
  type Trade,
} from './items.ts'
import { Pool } from './pool.ts'
import { defaultWebSocket, type WebSocketConstructor } from './socket.ts'
import { type Stream, type StreamOptions, type StreamPlan, TopicStream } from './stream.ts'
import { type Topic, topicOf } from './topic.ts'

export type StreamsOptions = Pick<StreamOptions, 'cursors' | 'onGap'> & {
  /** The gateway, or several equivalent ones: a connection moves on to the next one if its gateway fails. */
  readonly url: string | readonly string[]
  readonly key: string
  /** Needed where the runtime has none, as in Node 20: the class of the package `ws`. */
  readonly WebSocket?: WebSocketConstructor | undefined
  /** The limits of your plan; the defaults are those of the gateway. */
  readonly limits?: Partial<StreamLimits> | undefined
  /** A connection without messages is probed after this time, and dropped after as much again. Default: 15 s. */
  readonly silenceMs?: number | undefined
  /** A connection was lost, and its streams resume after a delay. */
  readonly onReconnect?: ((event: ReconnectEvent) => void) | undefined
}

export type StreamLimits = {
  readonly connections: number
  readonly subscriptionsPerConnection: number
  readonly messagesPerSecond: number
  readonly priceIds: number
  readonly multiKlinePairs: number
}

const LIMITS: StreamLimits = {
  ...{ connections: 10, subscriptionsPerConnection: 1_000, messagesPerSecond: 20 },
  ...{ priceIds: 200, multiKlinePairs: 100 },
}
const SILENCE_MS = 15_000

export type HistoryOptions = {
  /** Reads the history since then first, and continues with the live stream, without gap or duplicate. */
  readonly from?: HistoryStart | undefined
  /** The most items that the history may have. Default: 100,000. */
  readonly maxHistory?: number | undefined
}

/** With `retractions`, items that a reorg removed are reported in the stream. */
type WithRetractions = { readonly retractions: true }
type WithoutRetractions = { readonly retractions?: false | undefined }

export type EventOptions = StreamOptions & HistoryOptions
export type CandleOptions = StreamOptions & {
  /** Default: `usd`. */
  readonly unit?: CandleUnit | undefined
  /** The token has another main pair from now on. */
  readonly onMainPairSwitch?: ((event: MainPairSwitch) => void) | undefined
}

export type Streams = {
  /** Swaps of a pair. */
  trades(pairId: string, options: EventOptions & WithRetractions): Stream<Trade | Retraction>
  trades(pairId: string, options?: EventOptions & WithoutRetractions): Stream<Trade>
  /** Swaps of every pair that contains the token. */
  tokenTrades(tokenId: string, options: StreamOptions & WithRetractions): Stream<Trade | Retraction>
  tokenTrades(tokenId: string, options?: StreamOptions & WithoutRetractions): Stream<Trade>
  /** Liquidity added to and removed from a pair. */
  liquidity(pairId: string, options: EventOptions & WithRetractions): Stream<LiquidityChange | Retraction>
  liquidity(pairId: string, options?: EventOptions & WithoutRetractions): Stream<LiquidityChange>
  /** Candles of a pair: the current one, then each new version. */
  candles(
    pairId: string,
    interval: Interval,
    options: CandleOptions & HistoryOptions & WithRetractions,
  ): Stream<CandleUpdate | CandleRetraction>
  candles(
    pairId: string,
    interval: Interval,
    options?: CandleOptions & HistoryOptions & WithoutRetractions,
  ): Stream<CandleUpdate>
  /** Candles of many series in one stream. */
  candlesOf(
    series: readonly (readonly [pairId: string, interval: Interval])[],
    options: CandleOptions & WithRetractions,
  ): Stream<CandleUpdate | CandleRetraction>
  candlesOf(
    series: readonly (readonly [pairId: string, interval: Interval])[],
    options?: CandleOptions & WithoutRetractions,
  ): Stream<CandleUpdate>
  /** Prices of tokens (by their main pairs) and pairs: the current ones, then each change. */
  prices(ids: readonly string[], options?: StreamOptions): Stream<PriceEntry>
  /** Tokens that leave this pair as their main pair. */
  mainPairSwitches(pairId: string, options?: StreamOptions): Stream<MainPairSwitch>
  /** Sockets in use. */
  readonly sockets: number
  /** Closes all sockets. Streams that are still read end. */
  closeStreams(): void
}

type Any = { readonly retractions?: boolean | undefined } & CandleOptions & HistoryOptions

/** Streams over shared sockets. `rest` reads the history of streams that have a `from`. */
export function createStreams(
  options: StreamsOptions,
  rest: Pick<RestMethods, 'pairSwaps' | 'pairLiquidity' | 'pairKlines'>,
): Streams {
  const limits = { ...LIMITS, ...options.limits }
  let pool: Pool | undefined
  const open = new Set<{ close(): void }>()
  const poolOf = (): Pool =>
    (pool ??= new Pool({
      hosts: new Hosts(options.url),
      key: options.key,
      WebSocket: options.WebSocket ?? defaultWebSocket(),
      messagesPerSecond: limits.messagesPerSecond,
      maxConnections: limits.connections,
      maxSubscriptions: limits.subscriptionsPerConnection,
      silenceMs: options.silenceMs ?? SILENCE_MS,
      onReconnect: options.onReconnect ?? (() => undefined),
    }))
  const start = <T extends object>(plan: StreamPlan<T>, given: Any): TopicStream<T> => {
    const { cursors = options.cursors, onGap = options.onGap } = given
    const isHidden = given.retractions === true ? undefined : isRetraction
    const stream = new TopicStream(poolOf(), { ...plan, isHidden }, { ...given, cursors, onGap }, (closed) =>
      open.delete(closed),
    )
    open.add(stream)
    return stream
  }
  const eventHistory = <T extends HistoryEvent>(
    { from, maxHistory = MAX_HISTORY }: Any,
    read: (query: object, request: { signal: AbortSignal }) => Promise<{ txs: readonly T[] }>,
  ) =>
    from === undefined
      ? undefined
      : (signal: AbortSignal) => readEvents((query) => read(query, { signal }), secondsOf(from), maxHistory)
  const streams = {
    trades: (pairId: string, given: Any = {}) =>
      start(
        {
          topics: [pairTopic('tx', pairId)],
          decode: decodeTrade,
          history: eventHistory<Trade>(given, (query, request) => rest.pairSwaps(pairId, query, request)),
        },
        given,
      ),
    tokenTrades: (tokenId: string, given: Any = {}) =>
      start({ topics: [pairTopic('multi_tx', tokenId)], decode: decodeTrade }, given),
    liquidity: (pairId: string, given: Any = {}) =>
      start(
        {
          topics: [pairTopic('liq', pairId)],
          decode: decodeLiquidity,
          history: eventHistory<LiquidityChange>(given, (query, request) =>
            rest.pairLiquidity(pairId, query, request),
          ),
        },
        given,
      ),
    candles: (pairId: string, interval: Interval, given: Any = {}) => {
      const { unit = 'usd', from, maxHistory = MAX_HISTORY, onMainPairSwitch } = given
      const history =
        from === undefined
          ? undefined
          : (signal: AbortSignal) =>
              readCandles(rest, { pairId, interval, unit }, secondsOf(from), maxHistory, { signal })
      const { address, chain } = splitId(pairId)
      const topics = [topicOf('kline', address, interval, chain)]
      return start(
        { topics, decode: candleDecoder(unit, onMainPairSwitch), keyOf: candleKey, history },
        given,
      )
    },
    candlesOf: (series: readonly (readonly [string, Interval])[], given: Any = {}) => {
      const topics = chunks(series, limits.multiKlinePairs).map((part) =>
        topicOf('multi_kline', ...part.map(seriesParam)),
      )
      const decode = candleDecoder(given.unit ?? 'usd', given.onMainPairSwitch)
      return start({ topics, decode, keyOf: candleKey }, given)
    },
    prices: (ids: readonly string[], given: StreamOptions = {}) => {
      const known = [...new Set(ids.map(normalId))].sort()
      const topics = chunks(known, limits.priceIds).map((part) => topicOf('price', part))
      return start({ topics, decode: decodePrices, keyOf: priceKey }, given)
    },
    mainPairSwitches: (pairId: string, given: StreamOptions = {}) => {
      const { address, chain } = splitId(pairId)
      return start({ topics: [topicOf('kline', address, 'k10080', chain)], decode: decodeSwitch }, given)
    },
    get sockets() {
      return pool?.size ?? 0
    },
    closeStreams: () => {
      for (const stream of open) stream.close()
      open.clear()
      pool?.close()
    },
  }
  return streams as Streams
}

function pairTopic(name: 'tx' | 'multi_tx' | 'liq', id: string): Topic {
  const { address, chain } = splitId(id)
  return topicOf(name, address, chain)
}

function seriesParam([pairId, interval]: readonly [string, Interval]): readonly string[] {
  const { address, chain } = splitId(pairId)
  return [address, interval, chain]
}

function normalId(id: string): string {
  const { address, chain } = splitId(id)
  return `${address}-${chain}`
}

function candleKey({ pairId, interval, time }: CandleUpdate | CandleRetraction): string {
  return `${pairId} ${interval} ${time}`
}

function priceKey({ chain, pair, target_token }: PriceEntry): string {
  return `${pair}-${chain} ${target_token}`
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size))
  return parts
}
