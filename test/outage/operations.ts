import type { Scenario } from '../e2e/scenario.ts'

/**
 * The stores that a response needs: only the memory of the gateway; documents, which Redis and ClickHouse have; rows of
 * ClickHouse too, of which those of holders are cached briefly; search results of ClickHouse, and their documents, which
 * may be cached; or usage of keys, which is in Redis and in NATS.
 */
export type Needs = 'memory' | 'hot' | 'history' | 'holders' | 'search' | 'usage'

export type Operation = {
  readonly path: string
  readonly body?: object
  readonly needs: Needs
  /** Whether the response is the same whenever the same block is the latest. */
  readonly isOfBlock: boolean
}

/** Requests of every kind. */
export function operationsOf({ tokens, tokenPair, stablePair, token }: Scenario): Operation[] {
  const ids = tokens.map(({ address }) => `${address}-local`)
  const hot = (path: string, body?: object): Operation => ({
    ...{ path, needs: 'hot', isOfBlock: true },
    ...(body && { body }),
  })
  const history = (path: string): Operation => ({ path, needs: 'history', isOfBlock: true })
  return [
    hot(`/v2/pairs/${tokenPair}-local`),
    hot(`/v2/pairs/${stablePair}-local`),
    ...ids.map((id) => hot(`/v2/tokens/${id}`)),
    hot('/v2/tokens/price', { token_ids: ids, tvl_min: 0 }),
    hot('/v2/tokens/search', { token_ids: ids }),
    hot(`/v2/tokens?keyword=${token}&chain=local`),
    hot('/v2/tokens/main?chain=local'),
    // Ranked by what was so some seconds ago.
    { ...hot('/v2/tokens/trending?chain=local'), isOfBlock: false },
    // Its holders are as of the last batch that was written, and its examination as of whenever a node answered.
    { path: `/v2/contracts/${token}-local`, needs: 'holders', isOfBlock: false },
    // A few candles, all of which Redis keeps.
    hot(`/v2/klines/pair/${tokenPair}-local?interval=k60&limit=5`),
    hot(`/udf/history?symbol=${tokenPair}-local&resolution=60&from=0&to=4000000000`),
    history(`/v2/klines/pair/${tokenPair}-local?interval=s1&limit=30`),
    history(`/v2/klines/token/${token}-local?interval=s1&limit=30&unit=eth`),
    history(`/v2/txs/${tokenPair}-local?limit=20`),
    history(`/v2/txs/liq/${stablePair}-local`),
    { path: '/v2/tokens?keyword=PE&chain=local', needs: 'search', isOfBlock: true },
    { path: '/v2/chains', needs: 'memory', isOfBlock: false },
    { path: '/v2/status', needs: 'memory', isOfBlock: false },
    { path: '/v2/usage', needs: 'usage', isOfBlock: false },
  ]
}
