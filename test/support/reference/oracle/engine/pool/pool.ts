import type { PoolPrice, TokenRef } from '../../../../../../src/dex/events.ts'
import type { PoolFact, Pricing } from '../../../../../../src/domain/envelope.ts'

/** What is kept of a pool beside the pairs it is shown as. */
export type Pool = {
  readonly address: string
  readonly factory: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** As the pool last told it. */
  readonly price: PoolPrice | undefined
  /** What a bonding curve has to raise of its second token. */
  readonly goalRaw: bigint | undefined
}

export function newPool({ address, factory, tokens, pricing, goalRaw }: PoolFact): Pool {
  return { address, factory, tokens, pricing, price: undefined, goalRaw }
}

/** Where in the pool's list a token stands. */
export function placeOf(pool: Pool, token: TokenRef): number | undefined {
  const place = typeof token === 'number' ? token : pool.tokens.indexOf(token)
  return place >= 0 && place < pool.tokens.length ? place : undefined
}

/**
 * What two tokens of a pool are called as a pair. A pool of two tokens is its pair. One of more is a pair for
 * each two of them: the pool's address, filled up to 32 bytes with the places of both, lower first.
 */
export function pairId(pool: Pool, lower: number, higher: number): string {
  if (pool.tokens.length === 2) return pool.address
  const places = [lower, higher].map((place) => place.toString(16).padStart(2, '0')).join('')
  return pool.address + places.padStart(64 - (pool.address.length - 2), '0')
}
