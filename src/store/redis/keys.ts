import type { ChainAddress } from '../../domain/ids.ts'
import type { Interval } from '../../domain/interval.ts'
import type { WindowsDocumentRef } from '../document-reads.ts'

export type SeriesRef = { readonly chain: string; readonly pair: string; readonly interval: Interval }

/** In the order of their codes in a call of apply.lua. */
export const DOCUMENT_KINDS = ['pair', 'token', 'contract', 'pairWindows', 'tokenWindows', 'candles'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

/** All keys, below one prefix; the kind is followed by the chain. */
export class Keys {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  pair({ chain, address }: ChainAddress): string {
    return `${this.#prefix}:pair:${chain}:${address}`
  }

  token({ chain, address }: ChainAddress): string {
    return `${this.#prefix}:token:${chain}:${address}`
  }

  /** A token's contract report. */
  contract({ chain, address }: ChainAddress): string {
    return `${this.#prefix}:contract:${chain}:${address}`
  }

  windows({ chain, kind, address }: WindowsDocumentRef): string {
    return `${this.#prefix}:windows:${chain}:${kind}:${address}`
  }

  /** The latest candles of a pair, for all intervals. */
  candles({ chain, address }: ChainAddress): string {
    return `${this.#prefix}:candles:${chain}:${address}`
  }

  rank(chain: string, name: string): string {
    return `${this.#prefix}:rank:${chain}:${name}`
  }

  head(chain: string): string {
    return `${this.#prefix}:head:${chain}`
  }

  /** The key prefix of each kind of document, up to the address. */
  prefixes(chain: string): Readonly<Record<DocumentKind, string>> {
    const before = { chain, address: '' }
    return {
      pair: this.pair(before),
      token: this.token(before),
      contract: this.contract(before),
      pairWindows: this.windows({ kind: 'pair', ...before }),
      tokenWindows: this.windows({ kind: 'token', ...before }),
      candles: this.candles(before),
    }
  }

  /** Matches all keys of a chain except its head. */
  patterns(chain: string): string[] {
    return ['pair', 'token', 'contract', 'windows', 'candles', 'rank'].map(
      (kind) => `${this.#prefix}:${kind}:${chain}:*`,
    )
  }
}

/** Name of the ranking of a token's pairs by liquidity in dollars. */
export function pairsOf(token: string): string {
  return `pairs_of_${token}`
}
