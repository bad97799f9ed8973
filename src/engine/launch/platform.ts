import type { PoolCreated, PoolEvent } from '../../dex/events.ts'
import type { Pair, Token, TokenPlatform } from '../../domain/change.ts'
import type { LaunchFact } from '../../domain/envelope.ts'
import type { Pool } from '../pool/pool.ts'

export const WHOLE_PPM = 1_000_000

/** A bonding curve: the platform that runs it, and its pair after the event. */
export type Curve = { readonly name: string; readonly pool: Pool; readonly pair: Pair }

/**
 * A token's launch after an event of its bonding curve. A token launches once, so events of other platforms are
 * ignored.
 */
export function platformAfter(
  known: TokenPlatform | undefined,
  event: PoolEvent | PoolCreated,
  { name, pool, pair }: Curve,
  time: number,
): TokenPlatform | undefined {
  if (known !== undefined && known.name !== name) return known
  // A curve that is older than the log has an unknown creation time.
  const platform = known ?? { name, createdAt: undefined, progressPpm: undefined, graduatedAt: undefined }
  if (platform.graduatedAt !== undefined) return platform
  switch (event.type) {
    case 'poolCreated':
    case 'curveOpened':
      return { ...platform, createdAt: time, progressPpm: pool.goalRaw === undefined ? undefined : 0 }
    case 'curveProgressed':
      return { ...platform, progressPpm: event.progressPpm }
    case 'curveClosed':
      return { ...platform, progressPpm: WHOLE_PPM, graduatedAt: time }
    default: {
      const goalRaw = (event.type === 'swapped' ? event.goalRaw : undefined) ?? pool.goalRaw
      return { ...platform, progressPpm: raisedPpm(goalRaw, pair) ?? platform.progressPpm }
    }
  }
}

/** A token's launch after a fact about its past. What the log itself has shown stays. */
export function withPastLaunch(
  known: TokenPlatform | undefined,
  name: string,
  { createdAt, graduatedAt }: LaunchFact,
): TokenPlatform {
  if (known !== undefined && known.name !== name) return known
  return {
    name,
    createdAt: known?.createdAt ?? createdAt,
    progressPpm: graduatedAt === undefined ? known?.progressPpm : WHOLE_PPM,
    graduatedAt: known?.graduatedAt ?? graduatedAt,
  }
}

/** The share of the goal that the curve's quote side has raised; undefined if either is unknown. */
function raisedPpm(goalRaw: bigint | undefined, { token1 }: Pair): number | undefined {
  if (!goalRaw || token1.reserveRaw === undefined) return undefined
  const ppm = (token1.reserveRaw * BigInt(WHOLE_PPM)) / goalRaw
  return ppm > BigInt(WHOLE_PPM) ? WHOLE_PPM : Number(ppm)
}

/** Whether a pair is the bonding curve that its token has graduated from. */
export function isLeftCurve({ platform }: Token, { amm }: Pair): boolean {
  return platform?.graduatedAt !== undefined && platform.name === amm
}
