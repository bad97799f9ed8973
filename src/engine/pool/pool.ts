import type { TokenRef } from '../../dex/events.ts'
import type { PoolFact, Pricing } from '../../domain/envelope.ts'

/** What is kept of a pool beside the pairs it is shown as. */
export type Pool = {
  readonly address: string
  readonly factory: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** What a bonding curve has to raise of its second token. */
  readonly goalRaw: bigint | undefined
}

/** So much of one token stands against so much of the other, in base units: the pool price. */
export type Ratio = { readonly raw0: bigint; readonly raw1: bigint }

/** A pool or pair that was opened, and where its prices stand: `NONE` until they are looked for. */
export type Priced = {
  readonly address: string
  askedSlot: number
  /** Cached by `PriceTable`: the price that counts. */
  counted?: { readonly ratio: Ratio | undefined } | undefined
}

export function newPool({ address, factory, tokens, pricing, goalRaw }: PoolFact): Pool {
  return { address, factory, tokens, pricing, goalRaw }
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
