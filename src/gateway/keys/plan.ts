/** What a key may use. */
export type Plan = {
  readonly name: string
  readonly requestsPerSecond: number
  /** Requests that may come at once after a pause. */
  readonly burst: number
  readonly cuPerMonth: number
  /** Of the key, at one gateway, at a time. */
  readonly historyReads: number
  readonly sockets: SocketPlan
}

/** What a socket may do, as far as a plan decides it. */
export type SocketPlan = {
  /** Of the key, at one gateway. */
  readonly maxConnections: number
  readonly maxSubscriptions: number
  /** Of the key, at one gateway, at a time. */
  readonly maxReplays: number
  readonly maxPriceIds: number
  readonly maxMultiKlinePairs: number
  readonly messagesPerSecond: number
  readonly maxMessageBytes: number
  /** Pushes are compressed for clients that offer permessage-deflate. */
  readonly isCompressed: boolean
}
