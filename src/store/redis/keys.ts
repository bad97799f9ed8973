import type { Interval } from '../../domain/interval.ts'

export type AddressRef = { readonly chain: string; readonly address: string }
export type WindowsDocumentRef = AddressRef & { readonly kind: 'pair' | 'token' }
export type SeriesRef = { readonly chain: string; readonly pair: string; readonly interval: Interval }

/** By what tokens are ranked: dollars traded in 24 hours, of their supply, and in their main pair. */
export const TOKEN_RANKS = ['volume_24h', 'fdv', 'main_pair_tvl'] as const
export type TokenRank = (typeof TOKEN_RANKS)[number] | GroupRank

/** Tokens of launch platforms: all of them, or those of one that are still on their curve, or not any more. */
export type TokenGroup = 'meme' | `${string}_in` | `${string}_out`

/** Within a group: `new` by when they came into it, `almost` by how far they are, if they are nearly there. */
export type GroupRank = `${TokenGroup}/${'volume_24h' | 'main_pair_tvl' | 'new' | 'almost'}`

/** Every key we use, below one prefix; after the kind comes the chain. */
export class Keys {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  pair({ chain, address }: AddressRef): string {
    return `${this.#prefix}:pair:${chain}:${address}`
  }

  token({ chain, address }: AddressRef): string {
    return `${this.#prefix}:token:${chain}:${address}`
  }

  /** What is known of a token's contract. */
  contract({ chain, address }: AddressRef): string {
    return `${this.#prefix}:contract:${chain}:${address}`
  }

  windows({ chain, kind, address }: WindowsDocumentRef): string {
    return `${this.#prefix}:windows:${chain}:${kind}:${address}`
  }

  /** The newest candles of a pair, of all intervals. */
  candles({ chain, address }: AddressRef): string {
    return `${this.#prefix}:candles:${chain}:${address}`
  }

  rank(chain: string, name: string): string {
    return `${this.#prefix}:rank:${chain}:${name}`
  }

  head(chain: string): string {
    return `${this.#prefix}:head:${chain}`
  }

  /** Everything of a chain but its head. */
  patterns(chain: string): string[] {
    return ['pair', 'token', 'contract', 'windows', 'candles', 'rank'].map(
      (kind) => `${this.#prefix}:${kind}:${chain}:*`,
    )
  }
}

/** The name of the rank of a token's pairs, by what they hold in dollars. */
export function pairsOf(token: string): string {
  return `pairs_of_${token}`
}
