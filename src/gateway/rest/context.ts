import type { ReportedFault } from '../../domain/chain-fault.ts'
import type { ChainGenerations } from '../../domain/generation.ts'
import type { ChainFamily } from '../../domain/ids.ts'
import type { MessagePlace } from '../../domain/quarantine.ts'
import type { ReportedReconciliation } from '../../domain/reconciliation.ts'
import type { Answer, AnswerCache } from '../cache/answer-cache.ts'
import type { ContractReports } from '../market/contract-reports.ts'
import type { HistoryView } from '../market/history-view.ts'
import type { LookUps } from '../market/look-ups.ts'
import type { MarketReader } from '../market/market-view.ts'
import type { TokenLists } from '../market/token-lists/token-lists.ts'
import type { WantedHolders } from '../market/wanted-holders.ts'
import type { PriceAnswer } from '../shape/token-price.ts'
import type { PushDelays } from '../ws/send/freshness.ts'
import type { HoldersView } from './tokens/holders-view.ts'
import type { SearchedToken } from './tokens/rank-matches.ts'

/** The dependencies of the REST operations. */
export type RestContext = {
  readonly view: MarketReader
  readonly history: HistoryView
  readonly holders: HoldersView
  readonly wantedHolders: WantedHolders
  readonly reports: ContractReports
  readonly lookUps: LookUps
  /** Whole answers, and prices and rows of single tokens, that are still true. */
  readonly answers: AnswerCache<Answer>
  readonly prices: AnswerCache<PriceAnswer>
  readonly searched: AnswerCache<SearchedToken>
  readonly familyOf: (chain: string) => ChainFamily | undefined
  readonly chains: readonly ChainInfo[]
  /** The coins that a chain's other tokens are traded against, highest rank first. */
  readonly mainTokensOf: (chain: string) => readonly string[]
  /** The faults that roles report of a chain. */
  readonly faultsOf: (chain: string) => readonly ReportedFault[]
  /** The messages of a chain that are skipped by order of an operator. */
  readonly quarantinedOf: (chain: string) => readonly MessagePlace[]
  /** The last comparison of a chain's stored data with its source; undefined if there was none. */
  readonly reconciliationOf: (chain: string) => ReportedReconciliation | undefined
  /** The generations of a chain by the record; undefined if its entry cannot be read. */
  readonly generationsOf: (chain: string) => ChainGenerations | undefined
  /** How fresh the pushes of the last minutes were; undefined if there were none. */
  readonly freshnessOf: (chain: string) => PushDelays | undefined
  readonly nativeDecimalsOf: (chain: string) => number
  /** Whether the configuration names contracts that lock tokens; without them, what is locked is not known. */
  readonly hasLockers: (chain: string) => boolean
  /** A token's entry in the configured lists. */
  readonly listingOf: TokenLists['listingOf']
}

export type ChainInfo = {
  readonly chain: string
  readonly family: ChainFamily
  readonly amms: readonly string[]
  /** The launch platforms among them. */
  readonly platforms: readonly string[]
}
