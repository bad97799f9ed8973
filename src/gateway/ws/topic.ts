import { type ChainAddress, formatChainAddress } from '../../domain/ids.ts'
import type { Interval } from '../../domain/interval.ts'

export const TOPIC_NAMES = ['tx', 'multi_tx', 'liq', 'kline', 'multi_kline', 'price'] as const

export type TopicName = (typeof TOPIC_NAMES)[number]

export type Series = { readonly pair: ChainAddress; readonly interval: Interval }

/** A well-formed subscription; `resolveTopic` looks up its pairs and tokens. */
export type Topic =
  | { readonly name: 'tx' | 'liq'; readonly pair: ChainAddress }
  | { readonly name: 'multi_tx'; readonly token: ChainAddress }
  | {
      readonly name: 'kline' | 'multi_kline'
      readonly series: readonly Series[]
      readonly rejected: readonly Rejected[]
    }
  | { readonly name: 'price'; readonly items: readonly PriceItem[]; readonly rejected: readonly Rejected[] }

/** The optional last item of `params`. */
export type TopicOptions = {
  /** Every push carries a cursor and a sequence number. */
  readonly cursor: boolean
  /** A cursor: events after it are replayed first. */
  readonly from: string | undefined
  /** Retractions are pushed, and candles carry a revision. */
  readonly reorg: boolean
  /** While nothing else is pushed, the cursor is, now and then. */
  readonly checkpoint: boolean
}

export const NO_OPTIONS: TopicOptions = { cursor: false, from: undefined, reorg: false, checkpoint: false }

/** A token-id or a pair-id: their formats overlap, so only a lookup can distinguish them. */
export type PriceItem = { readonly id: string; readonly ref: ChainAddress }

export type Rejected = {
  readonly item: string
  readonly reason: RejectionReason
  /** The invalid interval, with `malformed_interval`. */
  readonly interval?: string
  /** Unknown, but being looked up: worth subscribing to again. */
  readonly pending?: true
}

/**
 * `unknown_id`: neither a known pair nor a known token; `unpriced_pair`: neither side is a quote asset, so that it never
 * has candles.
 */
export type RejectionReason =
  | 'malformed_id'
  | 'malformed_interval'
  | 'unknown_chain'
  | 'unknown_pair'
  | 'unknown_token'
  | 'unknown_id'
  | 'unpriced_pair'

/** Equal for equivalent params, so that a repeated subscribe and an unsubscribe find the subscription. */
export function topicIdentity(topic: Topic): string {
  switch (topic.name) {
    case 'tx':
    case 'liq':
      return JSON.stringify([topic.name, formatChainAddress(topic.pair.address, topic.pair.chain)])
    case 'multi_tx':
      return JSON.stringify([topic.name, formatChainAddress(topic.token.address, topic.token.chain)])
    case 'kline':
    case 'multi_kline': {
      const known = topic.series.map(({ pair, interval }) => klineKey(pair, interval))
      return identityOf(topic.name, known, topic.rejected)
    }
    case 'price': {
      const known = topic.items.map(({ ref }) => formatChainAddress(ref.address, ref.chain))
      return identityOf(topic.name, known, topic.rejected)
    }
  }
}

function identityOf(name: TopicName, known: readonly string[], rejected: readonly Rejected[]): string {
  const all = new Set([...known, ...rejected.map(({ item }) => item)])
  return JSON.stringify([name, ...[...all].sort()])
}

/** The first segment of a key; the last is the address. */
export type KeyKind = 'tx' | 'multi_tx' | 'liq' | 'kline' | 'switch' | 'price'

export function txKey(pair: ChainAddress): string {
  return `tx/${pair.chain}/${pair.address}`
}

/** Swaps of every pair that contains the token. */
export function tokenTxKey(token: ChainAddress): string {
  return `multi_tx/${token.chain}/${token.address}`
}

export function liquidityKey(pair: ChainAddress): string {
  return `liq/${pair.chain}/${pair.address}`
}

export function klineKey(pair: ChainAddress, interval: Interval): string {
  return `kline/${pair.chain}/${interval}/${pair.address}`
}

/** Notifies candle subscribers of a pair that it is no longer its token's main pair. */
export function switchKey(pair: ChainAddress): string {
  return `switch/${pair.chain}/${pair.address}`
}

export function pairPriceKey(pair: ChainAddress): string {
  return `price/${pair.chain}/pair/${pair.address}`
}

/** The price of the token's main pair, whichever pair that is at the time. */
export function tokenPriceKey(token: ChainAddress): string {
  return `price/${token.chain}/token/${token.address}`
}
