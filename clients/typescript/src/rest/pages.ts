import type { PairKlinesQuery, RestMethods, TrendingTokensQuery } from '../generated/operations.ts'
import type { Candle, LiquidityTransaction, Swap, TrendingToken } from '../generated/schemas.ts'
import type { RequestOptions } from './answer.ts'

const EVENTS_PER_PAGE = 1_000
const CANDLES_PER_PAGE = 1_000

/** All swaps of a pair, newest first; pages are read as the caller consumes them, 50 CU each. */
export async function* allSwaps(
  rest: Pick<RestMethods, 'pairSwaps'>,
  pairId: string,
  options: RequestOptions = {},
): AsyncGenerator<Swap, void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await rest.pairSwaps(pairId, { limit: EVENTS_PER_PAGE, cursor }, options)
    yield* page.txs
    cursor = page.next_cursor
    if (cursor === undefined) return
  }
}

/** All liquidity transactions of a pair, newest first; 50 CU for each page. */
export async function* allLiquidity(
  rest: Pick<RestMethods, 'pairLiquidity'>,
  pairId: string,
  options: RequestOptions = {},
): AsyncGenerator<LiquidityTransaction, void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await rest.pairLiquidity(pairId, { limit: EVENTS_PER_PAGE, cursor }, options)
    yield* page.txs
    cursor = page.next_cursor
    if (cursor === undefined) return
  }
}

/** All candles of a pair between `from` and `to`, newest first; 10 CU for each page. */
export async function* allCandles(
  rest: Pick<RestMethods, 'pairKlines'>,
  pairId: string,
  query: Omit<PairKlinesQuery, 'limit'> = {},
  options: RequestOptions = {},
): AsyncGenerator<Candle, void, undefined> {
  for (let to = query.to; ; ) {
    const page = await rest.pairKlines(pairId, { ...query, to, limit: CANDLES_PER_PAGE }, options)
    yield* [...page].reverse()
    const oldest = page[0]
    if (page.length < CANDLES_PER_PAGE || oldest === undefined || oldest.time <= (query.from ?? 0)) return
    to = oldest.time - 1
  }
}

/** All trending tokens of a chain, in the order of their rank; 5 CU for each page. */
export async function* allTrending(
  rest: Pick<RestMethods, 'trendingTokens'>,
  query: Omit<TrendingTokensQuery, 'current_page'>,
  options: RequestOptions = {},
): AsyncGenerator<TrendingToken, void, undefined> {
  for (let page = 0; page !== -1; ) {
    const { tokens, next_page } = await rest.trendingTokens({ ...query, current_page: page }, options)
    yield* tokens
    page = next_page
  }
}
