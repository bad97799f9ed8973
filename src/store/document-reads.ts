import type { Pair, Token, Windows } from '../domain/change.ts'
import type { ContractReport } from '../domain/contract-report.ts'
import type { ChainAddress } from '../domain/ids.ts'
import type { Versioned } from './versioned.ts'

export type WindowsDocumentRef = ChainAddress & { readonly kind: 'pair' | 'token' }

/** Token rankings: 24-hour volume, fully diluted value and main pair liquidity, all in dollars. */
export const TOKEN_RANKS = ['volume_24h', 'fdv', 'main_pair_tvl'] as const
export type TokenRank = (typeof TOKEN_RANKS)[number] | GroupRank

/**
 * Tokens of launch platforms: all of them, or one platform's tokens that are still on their curve, or have graduated.
 */
export type TokenGroup = 'meme' | `${string}_in` | `${string}_out`

/** Within a group: `new` sorts by time of entry, `almost` by progress, for curves close to their goal. */
export type GroupRank = `${TokenGroup}/${'volume_24h' | 'main_pair_tvl' | 'new' | 'almost'}`

/** Documents by id, as both Redis and ClickHouse can serve them; undefined if missing. */
export type DocumentReads = {
  pairs(refs: readonly ChainAddress[]): Promise<(Versioned<Pair> | undefined)[]>
  tokens(refs: readonly ChainAddress[]): Promise<(Versioned<Token> | undefined)[]>
  contracts(refs: readonly ChainAddress[]): Promise<(Versioned<ContractReport> | undefined)[]>
  windows(refs: readonly WindowsDocumentRef[]): Promise<(Versioned<Windows> | undefined)[]>
  /** Highest value first; pairs of unknown value come last. */
  topPairs(chain: string, token: string, limit: number): Promise<string[]>
  /** Highest first, without tokens of unknown value. */
  topTokens(chain: string, by: TokenRank, limit: number): Promise<string[]>
}
