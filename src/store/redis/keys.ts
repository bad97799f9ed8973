import type { Interval } from '../../domain/interval.ts'
import type { AddressRef, WindowsDocumentRef } from '../document-reads.ts'

export type SeriesRef = { readonly chain: string; readonly pair: string; readonly interval: Interval }

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
