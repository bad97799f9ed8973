import type { Pair } from '../../domain/change.ts'
import type { PairDepth } from '../tables.ts'

/** The token's pairs with this one's depth brought up to date; a pair of unknown depth does not count. */
export function withDepth(targetOf: readonly PairDepth[], pair: Pair): PairDepth[] {
  const others = targetOf.filter((depth) => depth.pair !== pair.address)
  const own = pair.tvlUsd === undefined ? [] : [{ pair: pair.address, tvlUsd: pair.tvlUsd }]
  // By address, so that ties do not depend on which pair was met first.
  return [...others, ...own].sort((a, b) => (a.pair < b.pair ? -1 : 1))
}

/** The deepest pair is the main one. */
export function deepest(targetOf: readonly PairDepth[]): PairDepth | undefined {
  let found: PairDepth | undefined
  for (const depth of targetOf) if (found === undefined || depth.tvlUsd > found.tvlUsd) found = depth
  return found
}
