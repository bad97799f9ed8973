import { normalAddress, splitId } from '../ids.ts'
import type { PriceEntry } from '../streams/items.ts'

/** The latest price of each pair and token, from a stream of prices. Prices have no retractions: a new entry corrects. */
export class PriceBook {
  /** By pair, then by the token that the entry is about. */
  readonly #pairs = new Map<string, Map<string, PriceEntry>>()
  readonly #tokens = new Map<string, PriceEntry>()

  apply(entry: PriceEntry): void {
    const { chain, is_main_pair } = entry
    const pair = `${normalAddress(entry.pair)}-${chain}`
    const token = `${normalAddress(entry.target_token)}-${chain}`
    const ofPair = this.#pairs.get(pair) ?? new Map<string, PriceEntry>()
    this.#pairs.set(pair, ofPair.set(token, entry))
    if (is_main_pair) this.#tokens.set(token, entry)
    else if (this.#tokens.get(token)?.pair === entry.pair) this.#tokens.delete(token)
  }

  /** Entries of a pair: a second one if it is the main pair of its quote asset, too. */
  pair(pairId: string): PriceEntry[] {
    return [...(this.#pairs.get(normal(pairId))?.values() ?? [])]
  }

  /** The entry of the token's main pair. */
  token(tokenId: string): PriceEntry | undefined {
    return this.#tokens.get(normal(tokenId))
  }

  /** Dollars, or undefined if the price is unknown. */
  usd(tokenId: string): string | undefined {
    return this.token(tokenId)?.uprice || undefined
  }
}

function normal(id: string): string {
  const { address, chain } = splitId(id)
  return `${address}-${chain}`
}
