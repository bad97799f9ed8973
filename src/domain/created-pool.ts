import type { PoolFact } from './envelope.ts'

/** A pool as its factory announced it. */
export type CreatedPool = Pick<PoolFact, 'address' | 'factory' | 'tokens' | 'pricing'> & {
  /** Distance of usable ticks, for pools whose positions are found by it. */
  readonly tickSpacing: number | undefined
  /** Amount of the second token that a bonding curve has to raise, if the event reports it. */
  readonly goalRaw: bigint | undefined
}
