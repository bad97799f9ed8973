/** The limits of a key. */
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

/** The limits of a socket that a plan decides. */
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
