import type { ChainAddress } from '../../../domain/ids.ts'
import type { MarketReader } from '../../market/market-view.ts'
import {
  klineKey,
  liquidityKey,
  type PriceItem,
  pairPriceKey,
  type Rejected,
  type Series,
  switchKey,
  type Topic,
  tokenPriceKey,
  tokenTxKey,
  txKey,
} from '../topic.ts'

/** A key to listen to, and what of: event topics have no present value. */
export type Source =
  | { readonly kind: 'event'; readonly key: string; readonly chain: string }
  | { readonly kind: 'kline'; readonly key: string; readonly chain: string; readonly series: Series }
  | {
      readonly kind: 'pair' | 'token'
      readonly key: string
      readonly chain: string
      readonly ref: ChainAddress
    }

export type Resolved = { readonly sources: readonly Source[]; readonly rejected: readonly Rejected[] }

/** The subject of a topic, as far as it exists. */
export async function resolveTopic(topic: Topic, view: MarketReader): Promise<Resolved> {
  switch (topic.name) {
    case 'tx':
    case 'liq': {
      const { pair } = topic
      const key = topic.name === 'tx' ? txKey(pair) : liquidityKey(pair)
      const [found] = await view.pairs([pair])
      return found?.record === undefined
        ? { sources: [], rejected: [rejection(pair, 'unknown_pair')] }
        : { sources: [{ kind: 'event', key, chain: pair.chain }], rejected: [] }
    }
    case 'multi_tx': {
      const { token } = topic
      const [found] = await view.tokens([token])
      return found?.record === undefined
        ? { sources: [], rejected: [rejection(token, 'unknown_token')] }
        : { sources: [{ kind: 'event', key: tokenTxKey(token), chain: token.chain }], rejected: [] }
    }
    case 'kline':
    case 'multi_kline':
      return resolveSeries(topic.series, topic.rejected, view)
    case 'price':
      return resolvePrice(topic.items, topic.rejected, view)
  }
}

async function resolveSeries(
  all: readonly Series[],
  malformed: readonly Rejected[],
  view: MarketReader,
): Promise<Resolved> {
  const pairs = await view.pairs(all.map(({ pair }) => pair))
  const sources = new Map<string, Source>()
  const rejected = [...malformed]
  for (const [index, series] of all.entries()) {
    const { pair, interval } = series
    const record = pairs[index]?.record
    if (record === undefined || record.targetToken === undefined) {
      rejected.push(rejection(pair, record === undefined ? 'unknown_pair' : 'unpriced_pair'))
      continue
    }
    const [key, other] = [klineKey(pair, interval), switchKey(pair)]
    sources.set(key, { kind: 'kline', key, chain: pair.chain, series })
    sources.set(other, { kind: 'event', key: other, chain: pair.chain })
  }
  return { sources: [...sources.values()], rejected }
}

async function resolvePrice(
  items: readonly PriceItem[],
  malformed: readonly Rejected[],
  view: MarketReader,
): Promise<Resolved> {
  const refs = items.map(({ ref }) => ref)
  const [pairs, tokens] = await Promise.all([view.pairs(refs), view.tokens(refs)])
  const sources: Source[] = []
  const rejected = [...malformed]
  for (const [index, { id, ref }] of items.entries()) {
    const { chain } = ref
    if (pairs[index]?.record !== undefined) sources.push({ kind: 'pair', key: pairPriceKey(ref), chain, ref })
    else if (tokens[index]?.record !== undefined)
      sources.push({ kind: 'token', key: tokenPriceKey(ref), chain, ref })
    else rejected.push({ item: id, reason: 'unknown_id' })
  }
  return { sources, rejected }
}

function rejection({ address, chain }: ChainAddress, reason: Rejected['reason']): Rejected {
  return { item: `${address}-${chain}`, reason }
}
