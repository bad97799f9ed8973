import type { Scope } from '../http/scope.ts'
import { addChains } from './chains/chains.ts'
import type { RestContext } from './context.ts'
import { addContract } from './contracts/contract.ts'
import { addKlines } from './klines/klines.ts'
import { addPairDetail } from './pairs/pair-detail.ts'
import { readQueryIntegers } from './query-integers.ts'
import { addKeywordSearch } from './tokens/keyword-search.ts'
import { addMainPairHistory } from './tokens/main-pair-history.ts'
import { addMainTokens } from './tokens/main-tokens.ts'
import { addPlatformTokens } from './tokens/platform-tokens.ts'
import { addTokenBatch } from './tokens/token-batch.ts'
import { addTokenDetail } from './tokens/token-detail.ts'
import { addTokenPrices } from './tokens/token-prices.ts'
import { addTopHolders } from './tokens/top-holders.ts'
import { addTrendingTokens } from './tokens/trending-tokens.ts'
import { addTxs } from './txs/txs.ts'
import { addUdf } from './udf/udf.ts'

/** Every operation about markets. */
export function addOperations(scope: Scope, context: RestContext): void {
  readQueryIntegers(scope)
  addTokenPrices(scope, context)
  addTokenBatch(scope, context)
  addKeywordSearch(scope, context)
  addTokenDetail(scope, context)
  addContract(scope, context)
  addTopHolders(scope, context)
  addMainPairHistory(scope, context)
  addMainTokens(scope, context)
  addTrendingTokens(scope, context)
  addPlatformTokens(scope, context)
  addPairDetail(scope, context)
  addKlines(scope, context)
  addTxs(scope, context)
  addChains(scope, context)
  addUdf(scope, context)
}
