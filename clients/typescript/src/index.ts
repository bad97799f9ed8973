// biome-ignore-all lint/performance/noBarrelFile: the entry point of the package; bundlers drop what is not used.
export { CandleBook } from './book/candle-book.ts'
export { candleStart, intervalSeconds } from './book/interval.ts'
export { PriceBook } from './book/price-book.ts'
export { type BookCandle, TradeCandleBook } from './book/trade-candle-book.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export { type DecimalField, type WithDecimals, withDecimals } from './decimals.ts'
export {
  ApiError,
  ChaintapeError,
  ConnectionError,
  DeadlineError,
  type Gap,
  GapError,
  isApiError,
  type RequestFault,
  StreamError,
} from './errors.ts'
export type { ErrorCode } from './generated/codes.ts'
export type * from './generated/operations.ts'
export type * from './generated/schemas.ts'
export { type IdParts, type Interval, splitId } from './ids.ts'
export type { Answer, AnswerMeta, AnswerWithMeta, RequestOptions } from './rest/answer.ts'
export { allCandles, allLiquidity, allSwaps, allTrending } from './rest/pages.ts'
export { createRest, type RestOptions } from './rest/rest.ts'
export type { ReconnectEvent } from './streams/connection.ts'
export { type CursorStore, memoryCursors, type StorageLike, storageCursors } from './streams/cursor-store.ts'
export type { HistoryStart } from './streams/history.ts'
export {
  type CandleRetraction,
  type CandleUnit,
  type CandleUpdate,
  isRetraction,
  type LiquidityChange,
  type MainPairSwitch,
  type PriceEntry,
  type Retraction,
  type Trade,
} from './streams/items.ts'
export type { WebSocketConstructor, WebSocketLike } from './streams/socket.ts'
export type { Stream, StreamOptions } from './streams/stream.ts'
export {
  type CandleOptions,
  createStreams,
  type EventOptions,
  type HistoryOptions,
  type StreamLimits,
  type Streams,
  type StreamsOptions,
} from './streams/streams.ts'
export type { Rejected } from './streams/topic.ts'
