import { type ChainId, formatChainId } from '../../domain/ids.ts'
import type { Interval } from '../../domain/interval.ts'

export const TOPIC_NAMES = ['tx', 'kline', 'price'] as const

export type TopicName = (typeof TOPIC_NAMES)[number]

/** What a subscription is about, checked in form; whether the pairs and tokens exist is another question. */
export type Topic =
  | { readonly name: 'tx'; readonly pair: ChainId }
  | { readonly name: 'kline'; readonly pair: ChainId; readonly interval: Interval }
  | { readonly name: 'price'; readonly items: readonly PriceItem[]; readonly rejected: readonly Rejected[] }

/** A token-id or a pair-id: their forms overlap, so that only a lookup tells which. */
export type PriceItem = { readonly id: string; readonly ref: ChainId }

export type Rejected = { readonly item: string; readonly reason: RejectionReason }

/** `unknown_id`: neither a known pair nor a known token. */
export type RejectionReason = 'malformed_id' | 'unknown_chain' | 'unknown_pair' | 'unknown_id'

/** Equal for params that mean the same: it is what makes a second subscribe, or an unsubscribe, meet the first. */
export function topicIdentity(topic: Topic): string {
  switch (topic.name) {
    case 'tx':
      return txKey(topic.pair)
    case 'kline':
      return klineKey(topic.pair, topic.interval)
    case 'price': {
      const known = topic.items.map(({ ref }) => formatChainId(ref.address, ref.chain))
      const all = new Set([...known, ...topic.rejected.map(({ item }) => item)])
      return JSON.stringify(['price', ...[...all].sort()])
    }
  }
}

export function txKey(pair: ChainId): string {
  return `tx/${pair.chain}/${pair.address}`
}

export function klineKey(pair: ChainId, interval: Interval): string {
  return `kline/${pair.chain}/${pair.address}/${interval}`
}

export function pairPriceKey(pair: ChainId): string {
  return `price/${pair.chain}/pair/${pair.address}`
}

/** Of the token's main pair, whichever that is at the time. */
export function tokenPriceKey(token: ChainId): string {
  return `price/${token.chain}/token/${token.address}`
}
