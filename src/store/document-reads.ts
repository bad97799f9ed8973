import type { Pair, Token, Windows } from '../domain/change.ts'
import type { ContractReport } from '../domain/contract-report.ts'
import type { Versioned } from './versioned.ts'

export type AddressRef = { readonly chain: string; readonly address: string }
export type WindowsDocumentRef = AddressRef & { readonly kind: 'pair' | 'token' }

/** By what tokens are ranked: dollars traded in 24 hours, of their supply, and in their main pair. */
export const TOKEN_RANKS = ['volume_24h', 'fdv', 'main_pair_tvl'] as const
export type TokenRank = (typeof TOKEN_RANKS)[number] | GroupRank

/** Tokens of launch platforms: all of them, or those of one that are still on their curve, or not any more. */
export type TokenGroup = 'meme' | `${string}_in` | `${string}_out`

/** Within a group: `new` by when they came into it, `almost` by how far they are, if they are nearly there. */
export type GroupRank = `${TokenGroup}/${'volume_24h' | 'main_pair_tvl' | 'new' | 'almost'}`

/** Documents by their ids, which Redis and ClickHouse both have; undefined where there is none. */
export type DocumentReads = {
  pairs(refs: readonly AddressRef[]): Promise<(Versioned<Pair> | undefined)[]>
  tokens(refs: readonly AddressRef[]): Promise<(Versioned<Token> | undefined)[]>
  contracts(refs: readonly AddressRef[]): Promise<(Versioned<ContractReport> | undefined)[]>
  windows(refs: readonly WindowsDocumentRef[]): Promise<(Versioned<Windows> | undefined)[]>
  /** Highest value first; pairs of unknown value come last. */
  topPairs(chain: string, token: string, limit: number): Promise<string[]>
  /** Highest first, tokens of unknown worth left out. */
  topTokens(chain: string, by: TokenRank, limit: number): Promise<string[]>
}
