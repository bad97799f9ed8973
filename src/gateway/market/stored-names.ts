import type { HistoryReader } from '../../store/clickhouse/read/history-reader.ts'
import type { DocumentReads } from '../../store/document-reads.ts'
import type { HotReads } from './guarded-hot.ts'

/** The name that a chain's served generation has in the stores. */
export type StoredNameOf = (chain: string) => string

/** Reads of ClickHouse that clients wait for. */
export type HistoryReads = Omit<HistoryReader, 'corruptions' | 'generations' | 'latest' | 'close'>

type OnChain = { readonly chain: string }

/** Redis, asked about the served generations by the public names of their chains. */
export function servedHot(hot: HotReads, nameOf: StoredNameOf): HotReads {
  return {
    ...servedDocuments(hot, nameOf),
    candles: (refs) => hot.candles(storedAll(refs, nameOf)),
    recentCandles: (ref, limit) => hot.recentCandles(stored(ref, nameOf), limit),
  }
}

/** The same for ClickHouse. */
export function servedHistory(history: HistoryReads, nameOf: StoredNameOf): HistoryReads {
  return {
    marker: (chain) => history.marker(nameOf(chain)),
    candles: (question) => history.candles(stored(question, nameOf)),
    trades: (question) => history.trades(stored(question, nameOf)),
    liquidity: (question) => history.liquidity(stored(question, nameOf)),
    tradesSince: (question) => history.tradesSince(stored(question, nameOf)),
    liquiditySince: (question) => history.liquiditySince(stored(question, nameOf)),
    switches: (question) => history.switches(stored(question, nameOf)),
    tokenMatches: async (question) => {
      const chains = new Map(question.chains.map((chain) => [nameOf(chain), chain]))
      const found = await history.tokenMatches({ ...question, chains: [...chains.keys()] })
      return found.map(({ chain, address }) => ({ chain: chains.get(chain) ?? chain, address }))
    },
    topHolders: (question) => history.topHolders(stored(question, nameOf)),
    documents: servedDocuments(history.documents, nameOf),
  }
}

function servedDocuments(reads: DocumentReads, nameOf: StoredNameOf): DocumentReads {
  return {
    pairs: (refs) => reads.pairs(storedAll(refs, nameOf)),
    tokens: (refs) => reads.tokens(storedAll(refs, nameOf)),
    contracts: (refs) => reads.contracts(storedAll(refs, nameOf)),
    windows: (refs) => reads.windows(storedAll(refs, nameOf)),
    topPairs: (chain, token, limit) => reads.topPairs(nameOf(chain), token, limit),
    topTokens: (chain, by, limit) => reads.topTokens(nameOf(chain), by, limit),
  }
}

function stored<T extends OnChain>(question: T, nameOf: StoredNameOf): T {
  const chain = nameOf(question.chain)
  // Most chains were never refolded.
  return chain === question.chain ? question : { ...question, chain }
}

function storedAll<T extends OnChain>(refs: readonly T[], nameOf: StoredNameOf): readonly T[] {
  return refs.every(({ chain }) => nameOf(chain) === chain) ? refs : refs.map((ref) => stored(ref, nameOf))
}
