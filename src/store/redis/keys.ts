import type { Interval } from '../../domain/interval.ts'
import type { AddressRef, WindowsDocumentRef } from '../document-reads.ts'

export type SeriesRef = { readonly chain: string; readonly pair: string; readonly interval: Interval }

/** In the order of their codes in a call of apply.lua. */
export const DOCUMENT_KINDS = ['pair', 'token', 'contract', 'pairWindows', 'tokenWindows', 'candles'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

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

  /** What stands before the address in the keys of each kind of document. */
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
