import type { Pair } from '../../domain/change.ts'
import { type Value, valueOfAmount } from '../../domain/money.ts'

/** A pair and its depth. */
export type PairDepth = {
  readonly pair: string
  readonly tvlUsd: Value
  /** Value of its quote side. */
  readonly depthUsd: Value
}

/**
 * A pair that is priced by a route counts with this part of its depth. A token between it and the quote asset can be
 * made for the purpose, so a route has to be ten times as deep as a pair with a quote asset to outweigh it.
 */
export const ROUTE_SHARE = 10n

/** Undefined if its depth is unknown. */
export function depthOf({ address, targetToken, token0, token1, tvlUsd }: Pair): PairDepth | undefined {
  if (targetToken === undefined || tvlUsd === undefined) return undefined
  // Only the quote side counts: a token's creator can mint any amount of the other side.
  const { reserveRaw, decimals, priceUsd } = targetToken === token0.token ? token1 : token0
  if (reserveRaw === undefined || decimals === undefined) return undefined
  const depthUsd = valueOfAmount(reserveRaw, decimals, priceUsd)
  return depthUsd === undefined ? undefined : { pair: address, tvlUsd, depthUsd }
}
