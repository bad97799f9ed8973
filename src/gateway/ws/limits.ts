export type WsLimits = typeof DEFAULT_WS_LIMITS

export const DEFAULT_WS_LIMITS = {
  maxSubscriptions: 1_000,
  maxReplays: 2,
  maxPriceIds: 200,
  maxMultiKlinePairs: 100,
  maxBatch: 20,
  messagesPerSecond: 20,
  maxMessageBytes: 64 * 1_024,
  isCompressed: false,
  /** Before authentication: enough for `auth`. */
  maxStrangerBytes: 1_024,
  /** Messages over the rate that are refused before the connection is closed; a message counts once per started 512 bytes. */
  refusalsPerSecond: 100,
  refusalsAtOnce: 500,
  /** Requests that wait for the store to answer earlier ones. */
  maxWaiting: 100,
  /** Not yet taken by the client's side of the connection. */
  maxBufferedBytes: 4 * 1_024 * 1_024,
  authMs: 5_000,
  pingMs: 20_000,
  silenceMs: 60_000,
  /** Between looks for subscriptions to which nothing was pushed. */
  checkpointMs: 30_000,
  /** After a shutdown clients come back spread over this span. */
  reconnectSpreadMs: 5_000,
}
