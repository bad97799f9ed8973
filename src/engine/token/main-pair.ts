import type { Pair } from '../../domain/change.ts'
import { amountValue, orient } from '../price/pair-prices.ts'
import type { PairDepth } from '../tables.ts'

/** By how many hundredths another pair has to be deeper than the main one to take its place. */
const MARGIN_PERCENT = 10n

/** The token's pairs with this one's depth brought up to date; a pair of unknown depth does not count. */
export function withDepth(targetOf: readonly PairDepth[], pair: Pair): PairDepth[] {
  const others = targetOf.filter((depth) => depth.pair !== pair.address)
  const quote = orient(pair)?.quote
  // Only the quote side counts: of the token itself anyone who makes one has as much as he likes.
  const depthUsd = quote && amountValue(quote.reserveRaw, quote.decimals, quote.priceUsd)
  const { address, tvlUsd } = pair
  const own = tvlUsd === undefined || depthUsd === undefined ? [] : [{ pair: address, tvlUsd, depthUsd }]
  // By address, so that ties do not depend on which pair was met first.
  return [...others, ...own].sort((a, b) => (a.pair < b.pair ? -1 : 1))
}

/** The deepest pair; but the one that is main stays it while no other is deeper by a margin. */
export function mainOf(targetOf: readonly PairDepth[], current: string | undefined): PairDepth | undefined {
  let found: PairDepth | undefined
  for (const depth of targetOf) if (found === undefined || depth.depthUsd > found.depthUsd) found = depth
  const main = targetOf.find(({ pair }) => pair === current)
  if (found === undefined || main === undefined) return found
  return found.depthUsd * 100n > main.depthUsd * (100n + MARGIN_PERCENT) ? found : main
}
