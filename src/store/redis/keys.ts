import type { Interval } from '../../domain/interval.ts'

export type AddressRef = { readonly chain: string; readonly address: string }
export type CandleDocumentRef = { readonly chain: string; readonly pair: string; readonly interval: Interval }

/** Every key we use, below one prefix. */
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

  /** Of the newest candle only. */
  candle({ chain, pair, interval }: CandleDocumentRef): string {
    return `${this.#prefix}:candle:${chain}:${pair}:${interval}`
  }

  /** A token's pairs, ranked by what they hold in dollars. */
  pairsOf(chain: string, token: string): string {
    return `${this.#prefix}:pairs-of:${chain}:${token}`
  }

  head(chain: string): string {
    return `${this.#prefix}:head:${chain}`
  }
}
