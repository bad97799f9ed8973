import type { TokenRef } from '../../dex/events.ts'
import type { PoolFact, Pricing } from '../../domain/envelope.ts'

/** A pool, apart from the pairs it appears as. */
export type Pool = {
  readonly address: string
  readonly factory: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** The goal of a bonding curve, in its second token. */
  readonly goalRaw: bigint | undefined
}

/** Pool price: amounts of the two tokens, in base units, that are worth the same. */
export type Ratio = { readonly raw0: bigint; readonly raw1: bigint }

/** An open pool or pair with the slots of its prices; `NONE` until they are looked up. */
export type Priced = {
  readonly address: string
  askedSlot: number
  /** Cached by `PriceTable`: the counted price. */
  counted?: { readonly ratio: Ratio | undefined } | undefined
}

export function newPool({ address, factory, tokens, pricing, goalRaw }: PoolFact): Pool {
  return { address, factory, tokens, pricing, goalRaw }
}

/** The index of a token in the pool's list. */
export function placeOf(pool: Pool, token: TokenRef): number | undefined {
  const place = typeof token === 'number' ? token : pool.tokens.indexOf(token)
  return place >= 0 && place < pool.tokens.length ? place : undefined
}

/**
 * The address of a pair of two tokens of a pool. A pool of two tokens has the pair's own address. A larger pool has one
 * pair for each two tokens: the pool's address, padded to 32 bytes with the indexes of both, lower first.
 */
export function pairId(pool: Pool, lower: number, higher: number): string {
  if (pool.tokens.length === 2) return pool.address
  const places = [lower, higher].map((place) => place.toString(16).padStart(2, '0')).join('')
  return pool.address + places.padStart(64 - (pool.address.length - 2), '0')
}
