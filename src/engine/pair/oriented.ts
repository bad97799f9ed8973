import type { PairSide } from '../../domain/change.ts'

/** A pair seen from its target token. */
export type Oriented<Side = PairSide> = { readonly target: Side; readonly quote: Side }

type Sides<Side> = {
  readonly targetToken: string | undefined
  readonly token0: Side
  readonly token1: Side
}

export function orient<Side extends PairSide>({
  targetToken,
  token0,
  token1,
}: Sides<Side>): Oriented<Side> | undefined {
  if (targetToken === undefined) return undefined
  return targetToken === token0.token ? { target: token0, quote: token1 } : { target: token1, quote: token0 }
}
