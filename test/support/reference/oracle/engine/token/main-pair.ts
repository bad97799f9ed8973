import type { Pair } from '../../../../../../src/domain/change.ts'
import type { Value } from '../../../../../../src/domain/money.ts'
import { amountValue, orient } from '../price/pair-prices.ts'
import type { PairDepth, QuotedPairs } from '../tables.ts'

/** By how many hundredths another pair has to be deeper than the main one to take its place. */
const MARGIN_PERCENT = 10n

/** How many of the pairs that are priced in a quote asset are listed. */
const MAX_LISTED = 16

/** A pool of a made-up token claims any TVL: for the quote asset its other side counts up to this many times its own. */
const MAX_TARGET_SHARE = 10n

export const NO_QUOTED_PAIRS: QuotedPairs = { tvlUsd: 0n, deepest: [] }

/** The token's pairs with this one's depth brought up to date; a pair of unknown depth does not count. */
export function withDepth(targetOf: readonly PairDepth[], pair: Pair): PairDepth[] {
  const others = targetOf.filter((depth) => depth.pair !== pair.address)
  const own = depthOf(pair)
  return sorted(own === undefined ? others : [...others, own])
}

/** The pairs of a quote asset after a block that left one of them as `pair`; `before` is undefined if it is new. */
export function withQuotedPair(
  { tvlUsd, deepest }: QuotedPairs,
  before: Pair | undefined,
  pair: Pair,
  mainPair: string | undefined,
): QuotedPairs {
  const own = depthOf(pair)
  const total = tvlUsd + quotedTvl(own) - quotedTvl(before && depthOf(before))
  const isListed = deepest.some((depth) => depth.pair === pair.address)
  if (own === undefined && !isListed) return { tvlUsd: total, deepest }
  const others = isListed ? deepest.filter((depth) => depth.pair !== pair.address) : deepest
  const listed = own === undefined ? others : [...others, own]
  if (listed.length <= MAX_LISTED) return { tvlUsd: total, deepest: sorted(listed) }
  // The main pair stays listed, or it would be left although it is still about as deep as the deepest.
  const evictable = listed.filter((depth) => depth.pair !== mainPair)
  const shallowest = evictable.reduce((least, depth) => (isShallower(depth, least) ? depth : least))
  if (shallowest === own) return { tvlUsd: total, deepest }
  return { tvlUsd: total, deepest: sorted(listed.filter((depth) => depth !== shallowest)) }
}

function depthOf(pair: Pair): PairDepth | undefined {
  const quote = orient(pair)?.quote
  // Only the quote side counts: of the token itself anyone who makes one has as much as he likes.
  const depthUsd = quote && amountValue(quote.reserveRaw, quote.decimals, quote.priceUsd)
  const { address, tvlUsd } = pair
  return tvlUsd === undefined || depthUsd === undefined ? undefined : { pair: address, tvlUsd, depthUsd }
}

function quotedTvl(depth: PairDepth | undefined): Value {
  if (depth === undefined) return 0n
  const { tvlUsd, depthUsd } = depth
  const isBelievable = tvlUsd <= depthUsd * (MAX_TARGET_SHARE + 1n)
  return isBelievable ? tvlUsd : depthUsd * (MAX_TARGET_SHARE + 1n)
}

/** By address, so that ties do not depend on which pair was met first. */
function sorted(depths: readonly PairDepth[]): PairDepth[] {
  return [...depths].sort((a, b) => (a.pair < b.pair ? -1 : 1))
}

function isShallower(a: PairDepth, b: PairDepth): boolean {
  return a.depthUsd === b.depthUsd ? a.pair > b.pair : a.depthUsd < b.depthUsd
}

/** The deepest pair; but the one that is main stays it while no other is deeper by a margin. */
export function mainOf(targetOf: readonly PairDepth[], current: string | undefined): PairDepth | undefined {
  let found: PairDepth | undefined
  for (const depth of targetOf) if (found === undefined || depth.depthUsd > found.depthUsd) found = depth
  const main = targetOf.find(({ pair }) => pair === current)
  if (found === undefined || main === undefined) return found
  return found.depthUsd * 100n > main.depthUsd * (100n + MARGIN_PERCENT) ? found : main
}
