/** What a key may use. */
export type Plan = {
  readonly name: string
  readonly requestsPerSecond: number
  /** Requests that may come at once after a pause. */
  readonly burst: number
  readonly cuPerMonth: number
  /** Per key and gateway, concurrently. */
  readonly historyReads: number
  readonly sockets: SocketPlan
}

/** What a socket may do, as far as a plan decides it. */
export type SocketPlan = {
  /** Per key and gateway. */
  readonly maxConnections: number
  readonly maxSubscriptions: number
  /** Per key and gateway, concurrently. */
  readonly maxReplays: number
  readonly maxPriceIds: number
  readonly maxMultiKlinePairs: number
  readonly messagesPerSecond: number
  readonly maxMessageBytes: number
  /** Pushes are compressed for clients that offer permessage-deflate. */
  readonly isCompressed: boolean
}
