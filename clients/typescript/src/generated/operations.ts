// Generated from the description of the gateway: `npm run client:types`. Do not edit.

import type { Answer, RequestOptions } from '../rest/answer.ts'
import type { Candle, Chain, Contract, Holder, LiquidityPage, MainPairChange, MainTokenRow, Pair, Status, SwapPage, TokenDetail, TokenMatch, TokenPrice, TokenRow, TrendingPage, UdfConfig, UdfHistory, UdfSearchResult, UdfSymbol, Usage } from './schemas.ts'

export type TokenPricesBody = {
  readonly token_ids: readonly string[]
  readonly tvl_min?: number | undefined
  readonly tx_24h_volume_min?: number | undefined
}

export type TokenBatchBody = {
  readonly token_ids: readonly string[]
}

export type KeywordSearchQuery = {
  readonly keyword: string
  readonly chain?: string | undefined
  readonly limit?: number | undefined
  readonly orderby?: 'tx_volume_u_24h' | 'market_cap' | 'main_pair_tvl' | 'fdv' | undefined
}

export type TopHoldersQuery = {
  readonly limit?: number | undefined
}

export type MainPairHistoryQuery = {
  readonly limit?: number | undefined
}

export type MainTokensQuery = {
  readonly chain: string
}

export type TrendingTokensQuery = {
  readonly chain: string
  readonly current_page?: number | undefined
  readonly page_size?: number | undefined
  readonly explain?: boolean | undefined
}

export type PlatformTokensQuery = {
  readonly tag: string
  readonly limit?: number | undefined
  readonly orderby?: 'tx_volume_u_24h' | 'main_pair_tvl' | undefined
}

export type PairKlinesQuery = {
  readonly interval?: 's1' | 'k1' | 'k5' | 'k15' | 'k30' | 'k60' | 'k120' | 'k240' | 'k1440' | 'k10080' | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly limit?: number | undefined
  readonly unit?: 'usd' | 'eth' | 'quote' | undefined
  readonly fill?: boolean | undefined
}

export type TokenKlinesQuery = {
  readonly interval?: 's1' | 'k1' | 'k5' | 'k15' | 'k30' | 'k60' | 'k120' | 'k240' | 'k1440' | 'k10080' | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly limit?: number | undefined
  readonly unit?: 'usd' | 'eth' | 'quote' | undefined
  readonly fill?: boolean | undefined
}

export type PairSwapsQuery = {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export type PairLiquidityQuery = {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export type UdfSymbolsQuery = {
  readonly symbol: string
}

export type UdfSearchQuery = {
  readonly query: string
  readonly type?: string | undefined
  readonly exchange?: string | undefined
  readonly limit?: number | undefined
}

export type UdfHistoryQuery = {
  readonly symbol: string
  readonly resolution: '1' | '5' | '15' | '30' | '60' | '120' | '240' | '1S' | '1D' | 'D' | '1W' | 'W'
  readonly from: number
  readonly to: number
  readonly countback?: number | undefined
  readonly currencyCode?: string | undefined
}

export type UsageQuery = {
  readonly month?: string | undefined
}

/** One method per operation. A path parameter comes first, then the query or the body, then the options. */
export type RestMethods = {
  /** Prices of up to 200 tokens. 100 CU. */
  tokenPrices(body: TokenPricesBody, options?: RequestOptions): Answer<{ readonly [id: string]: TokenPrice }>
  /** Details of up to 50 tokens. 100 CU. */
  tokenBatch(body: TokenBatchBody, options?: RequestOptions): Answer<{ readonly [id: string]: TokenRow }>
  /** Tokens by address, symbol or name. 5 CU. */
  keywordSearch(query: KeywordSearchQuery, options?: RequestOptions): Answer<readonly TokenMatch[]>
  /** A token and its top 5 pairs. 5 CU. */
  tokenDetail(tokenId: string, options?: RequestOptions): Answer<TokenDetail>
  /** Contract and risk of a token. 10 CU. */
  contract(tokenId: string, options?: RequestOptions): Answer<Contract>
  /** The largest holders of a token. 10 CU. */
  topHolders(tokenId: string, query?: TopHoldersQuery, options?: RequestOptions): Answer<readonly Holder[]>
  /** Changes of the main pair of a token. 10 CU. */
  mainPairHistory(tokenId: string, query?: MainPairHistoryQuery, options?: RequestOptions): Answer<readonly MainPairChange[]>
  /** The main tokens of a chain. 5 CU. */
  mainTokens(query: MainTokensQuery, options?: RequestOptions): Answer<readonly MainTokenRow[]>
  /** Trending tokens of a chain, page by page. 5 CU. */
  trendingTokens(query: TrendingTokensQuery, options?: RequestOptions): Answer<TrendingPage>
  /** Tokens of a launch platform, by tag, on all chains. 10 CU. */
  platformTokens(query: PlatformTokensQuery, options?: RequestOptions): Answer<readonly TokenRow[]>
  /** A pair. 5 CU. */
  pairDetail(pairId: string, options?: RequestOptions): Answer<Pair>
  /** Candles of a pair. 10 CU. */
  pairKlines(pairId: string, query?: PairKlinesQuery, options?: RequestOptions): Answer<readonly Candle[]>
  /** Candles of a token's main pair. 10 CU. */
  tokenKlines(tokenId: string, query?: TokenKlinesQuery, options?: RequestOptions): Answer<readonly Candle[]>
  /** Swaps of a pair. 50 CU. */
  pairSwaps(pairId: string, query?: PairSwapsQuery, options?: RequestOptions): Answer<SwapPage>
  /** Liquidity transactions of a pair. 50 CU. */
  pairLiquidity(pairId: string, query?: PairLiquidityQuery, options?: RequestOptions): Answer<LiquidityPage>
  /** Chains of this gateway. 0 CU. */
  chains(options?: RequestOptions): Answer<readonly Chain[]>
  /** Capabilities of the datafeed. 0 CU. */
  udfConfig(options?: RequestOptions): Answer<UdfConfig>
  /** Server time. 0 CU. */
  udfTime(options?: RequestOptions): Answer<string>
  /** A pair as a symbol. 5 CU. */
  udfSymbols(query: UdfSymbolsQuery, options?: RequestOptions): Answer<UdfSymbol>
  /** Pairs of a token, or the pair itself. 5 CU. */
  udfSearch(query: UdfSearchQuery, options?: RequestOptions): Answer<readonly UdfSearchResult[]>
  /** Bars of a pair, in dollars. 10 CU. */
  udfHistory(query: UdfHistoryQuery, options?: RequestOptions): Answer<UdfHistory>
  /** Usage of the key by day and operation. 0 CU. */
  usage(query?: UsageQuery, options?: RequestOptions): Answer<Usage>
  /** Head and lag of each chain; needs no key. 0 CU. */
  status(options?: RequestOptions): Answer<Status>
}

/** `isRepeatable`: the operation only reads, so that it may be sent again. */
export const OPERATIONS = {
  tokenPrices: { method: 'POST', path: '/v2/tokens/price', hasPathId: false, hasInput: true, isRepeatable: true },
  tokenBatch: { method: 'POST', path: '/v2/tokens/search', hasPathId: false, hasInput: true, isRepeatable: true },
  keywordSearch: { method: 'GET', path: '/v2/tokens', hasPathId: false, hasInput: true, isRepeatable: true },
  tokenDetail: { method: 'GET', path: '/v2/tokens/{token-id}', hasPathId: true, hasInput: false, isRepeatable: true },
  contract: { method: 'GET', path: '/v2/contracts/{token-id}', hasPathId: true, hasInput: false, isRepeatable: true },
  topHolders: { method: 'GET', path: '/v2/tokens/top100/{token-id}', hasPathId: true, hasInput: true, isRepeatable: true },
  mainPairHistory: { method: 'GET', path: '/v2/tokens/main-pairs/{token-id}', hasPathId: true, hasInput: true, isRepeatable: true },
  mainTokens: { method: 'GET', path: '/v2/tokens/main', hasPathId: false, hasInput: true, isRepeatable: true },
  trendingTokens: { method: 'GET', path: '/v2/tokens/trending', hasPathId: false, hasInput: true, isRepeatable: true },
  platformTokens: { method: 'GET', path: '/v2/tokens/platform', hasPathId: false, hasInput: true, isRepeatable: true },
  pairDetail: { method: 'GET', path: '/v2/pairs/{pair-id}', hasPathId: true, hasInput: false, isRepeatable: true },
  pairKlines: { method: 'GET', path: '/v2/klines/pair/{pair-id}', hasPathId: true, hasInput: true, isRepeatable: true },
  tokenKlines: { method: 'GET', path: '/v2/klines/token/{token-id}', hasPathId: true, hasInput: true, isRepeatable: true },
  pairSwaps: { method: 'GET', path: '/v2/txs/{pair-id}', hasPathId: true, hasInput: true, isRepeatable: true },
  pairLiquidity: { method: 'GET', path: '/v2/txs/liq/{pair-id}', hasPathId: true, hasInput: true, isRepeatable: true },
  chains: { method: 'GET', path: '/v2/chains', hasPathId: false, hasInput: false, isRepeatable: true },
  udfConfig: { method: 'GET', path: '/udf/config', hasPathId: false, hasInput: false, isRepeatable: true },
  udfTime: { method: 'GET', path: '/udf/time', hasPathId: false, hasInput: false, isRepeatable: true },
  udfSymbols: { method: 'GET', path: '/udf/symbols', hasPathId: false, hasInput: true, isRepeatable: true },
  udfSearch: { method: 'GET', path: '/udf/search', hasPathId: false, hasInput: true, isRepeatable: true },
  udfHistory: { method: 'GET', path: '/udf/history', hasPathId: false, hasInput: true, isRepeatable: true },
  usage: { method: 'GET', path: '/v2/usage', hasPathId: false, hasInput: true, isRepeatable: true },
  status: { method: 'GET', path: '/v2/status', hasPathId: false, hasInput: false, isRepeatable: true },
} as const
