/** Times of the stream and of its comparison with JSON-RPC. */
export type YellowstoneSettings = {
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** A connection that lasted this long does not lengthen the next delay. */
  readonly stableMs: number
  /** Slots come every 0.4 s: a connection without any message for this long is dead. */
  readonly silentMs: number
  /** Bound of a message: a full block has less than a tenth of it. */
  readonly maxMessageBytes: number
  /** How often the head of a trusted stream is compared with that of JSON-RPC. */
  readonly compareEveryMs: number
  /** A stream further behind than this is not used. */
  readonly maxLagBlocks: number
  /** A stream that is not confirmed for this long is ended. */
  readonly patienceMs: number
}

export const DEFAULT_SETTINGS: YellowstoneSettings = {
  firstDelayMs: 500,
  maxDelayMs: 60_000,
  stableMs: 10_000,
  silentMs: 10_000,
  maxMessageBytes: 64 * 1024 * 1024,
  compareEveryMs: 5_000,
  maxLagBlocks: 8,
  patienceMs: 30_000,
}
