import type { Pair, PairSide } from '../../domain/change.ts'
import { ONE_PRICE, priceOf, valueOfAmount } from '../../domain/money.ts'
import type { Priced } from '../pool/pool.ts'
import type { EngineSettings } from '../settings.ts'
import { type Anchor, type EngineTables, ONLY } from '../tables.ts'
import type { ReferencePrices } from './reference-prices.ts'

/** Updates the anchor if the pair is a pool of a stablecoin and the native coin; ignores other pairs. */
export function noteAnchor(
  pair: Pair & Priced,
  reference: ReferencePrices,
  { minDepthUsd }: EngineSettings,
  tables: EngineTables,
): void {
  const { token0, token1 } = pair
  const isStable0 = reference.isStable(token0.token) && reference.isNative(token1.token)
  const isStable1 = reference.isStable(token1.token) && reference.isNative(token0.token)
  if (!isStable0 && !isStable1) return
  const ratio = tables.prices.counted(pair)
  const anchor = isStable0
    ? toAnchor(pair.address, token0, ratio?.raw0 ?? 0n, token1, ratio?.raw1 ?? 0n)
    : toAnchor(pair.address, token1, ratio?.raw1 ?? 0n, token0, ratio?.raw0 ?? 0n)
  const before = tables.anchors.get(ONLY) ?? []
  const others = before.filter((known) => known.pair !== pair.address)
  // Shallow pools are cheap to manipulate, and empty ones have no price.
  const isDeep = anchor !== undefined && anchor.depthUsd > 0n && anchor.depthUsd >= minDepthUsd
  if (!isDeep && others.length === before.length) return
  // By address, so that the list does not depend on history.
  const anchors = [...others, ...(isDeep ? [anchor] : [])].sort((a, b) => (a.pair < b.pair ? -1 : 1))
  tables.anchors.put(ONLY, anchors)
}

function toAnchor(
  pair: string,
  stable: PairSide,
  stableRaw: bigint,
  native: PairSide,
  nativeRaw: bigint,
): Anchor | undefined {
  if (stable.decimals === undefined || native.decimals === undefined) return undefined
  if (stable.reserveRaw === undefined) return undefined
  const nativeUsd = priceOf(nativeRaw, native.decimals, stableRaw, stable.decimals)
  const depthUsd = valueOfAmount(stable.reserveRaw, stable.decimals, ONE_PRICE)
  if (nativeUsd === undefined || depthUsd === undefined) return undefined
  return { pair, stable: stable.token, depthUsd, nativeUsd }
}
