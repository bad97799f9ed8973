import type { Value } from '../../domain/money.ts'
import { type PairDepth, ROUTE_SHARE } from '../pair/depth.ts'

/** Another pair must be deeper than the main pair by this percentage to replace it. */
const MARGIN_PERCENT = 10n

/** How many of the pairs priced in a quote asset are listed. */
const MAX_LISTED = 16

/** A pool of a worthless token can claim any TVL, so its other side counts at most this many times the quote side. */
const MAX_TARGET_SHARE = 10n

/** A quote asset may have millions of pairs, so their TVL is a running total and only the deepest are listed. */
export type QuotedPairs = { readonly tvlUsd: Value; readonly deepest: readonly PairDepth[] }

export const NO_QUOTED_PAIRS: QuotedPairs = { tvlUsd: 0n, deepest: [] }

/** A pair and its current depth. */
type DeepPair = { readonly address: string; readonly depth: PairDepth | undefined }

/** The token's pairs with this pair's new depth; pairs of unknown depth are left out. */
export function withDepth(targetPairs: readonly PairDepth[], { address, depth: own }: DeepPair): PairDepth[] {
  // Most tokens have one pair.
  if (targetPairs.length === 1 && targetPairs[0]?.pair === address) return own === undefined ? [] : [own]
  const others = targetPairs.filter((depth) => depth.pair !== address)
  if (own !== undefined) others.push(own)
  return others.length > 1 ? sorted(others) : others
}

/**
 * The depth of a pair that is priced by a route: its quote side, but no more than the route can carry. It adds nothing to
 * the TVL of its target unless it is the main pair, which is listed without it.
 */
export function routedDepth(
  depth: PairDepth | undefined,
  routeUsd: Value | undefined,
): PairDepth | undefined {
  if (depth === undefined || routeUsd === undefined) return undefined
  const isCarried = depth.depthUsd <= routeUsd
  const depthUsd = (isCarried ? depth.depthUsd : routeUsd) / ROUTE_SHARE
  return depthUsd === 0n ? undefined : { pair: depth.pair, tvlUsd: 0n, depthUsd }
}

/** Whether a listed pair is priced by a route: the TVL of any other is at least its depth. */
export function isListedAsRouted({ tvlUsd, depthUsd }: PairDepth): boolean {
  return tvlUsd < depthUsd
}

/** The TVL of a main pair that is priced by a route, as far as the route can carry it. */
export function routedTvl({ depthUsd }: PairDepth, tvlUsd: Value | undefined): Value {
  const most = depthUsd * ROUTE_SHARE * (MAX_TARGET_SHARE + 1n)
  return tvlUsd === undefined || tvlUsd > most ? most : tvlUsd
}

/** The list without all but the deepest pairs that are priced by routes, because each is looked up at every change. */
export function withoutShallowRoutes(depths: readonly PairDepth[], main: string | undefined): PairDepth[] {
  const routed = depths.filter((depth) => isListedAsRouted(depth) && depth.pair !== main)
  if (routed.length < MAX_LISTED) return [...depths]
  const dropped = new Set(routed.sort((a, b) => (isShallower(a, b) ? 1 : -1)).slice(MAX_LISTED - 1))
  return depths.filter((depth) => !dropped.has(depth))
}

/** The pairs of a quote asset after a block changed `pair`; `before` is its depth before the block. */
export function withQuotedPair(
  { tvlUsd, deepest }: QuotedPairs,
  before: PairDepth | undefined,
  { address, depth: own }: DeepPair,
  mainPair: string | undefined,
): QuotedPairs {
  const total = tvlUsd + quotedTvl(own) - quotedTvl(before)
  const isListed = deepest.some((depth) => depth.pair === address)
  if (!isListed && (own === undefined || isBeyondList(own, deepest, mainPair))) {
    return { tvlUsd: total, deepest }
  }
  const others = isListed ? deepest.filter((depth) => depth.pair !== address) : deepest
  const listed = own === undefined ? others : [...others, own]
  if (listed.length <= MAX_LISTED) return { tvlUsd: total, deepest: sorted(listed) }
  // The main pair stays listed, because it stays main while it is nearly as deep as the deepest.
  const evictable = listed.filter((depth) => depth.pair !== mainPair)
  const shallowest = evictable.reduce((least, depth) => (isShallower(depth, least) ? depth : least))
  return { tvlUsd: total, deepest: sorted(listed.filter((depth) => depth !== shallowest)) }
}

/** Whether the list is full of deeper pairs, which is the common case. */
function isBeyondList(own: PairDepth, deepest: readonly PairDepth[], mainPair: string | undefined): boolean {
  if (deepest.length < MAX_LISTED || own.pair === mainPair) return false
  return deepest.every((depth) => depth.pair === mainPair || isShallower(own, depth))
}

function quotedTvl(depth: PairDepth | undefined): Value {
  if (depth === undefined) return 0n
  const { tvlUsd, depthUsd } = depth
  const isBelievable = tvlUsd <= depthUsd * (MAX_TARGET_SHARE + 1n)
  return isBelievable ? tvlUsd : depthUsd * (MAX_TARGET_SHARE + 1n)
}

/** Ties are broken by address, so that the order does not depend on history. */
function sorted(depths: readonly PairDepth[]): PairDepth[] {
  return [...depths].sort((a, b) => (a.pair < b.pair ? -1 : 1))
}

function isShallower(a: PairDepth, b: PairDepth): boolean {
  return a.depthUsd === b.depthUsd ? a.pair > b.pair : a.depthUsd < b.depthUsd
}

/** The deepest pair; the current main pair stays until another one is deeper by a margin. */
export function mainOf(depths: readonly PairDepth[], current: string | undefined): PairDepth | undefined {
  let found: PairDepth | undefined
  for (const depth of depths) if (found === undefined || depth.depthUsd > found.depthUsd) found = depth
  const main = depths.find(({ pair }) => pair === current)
  if (found === undefined || main === undefined) return found
  return found.depthUsd * 100n > main.depthUsd * (100n + MARGIN_PERCENT) ? found : main
}
