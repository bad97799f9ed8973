/** What decoders make of raw logs, whatever the protocol. Amounts are exact base units. */
export type DexEvent = PoolCreated | ReservesSet | Swapped

export type PoolCreated = {
  readonly type: 'poolCreated'
  readonly pool: string
  readonly token0: string
  readonly token1: string
}

/** What the pool holds after the event. */
export type ReservesSet = {
  readonly type: 'reservesSet'
  readonly reserve0: bigint
  readonly reserve1: bigint
}

/** Seen from the pool: positive came in, negative went out. */
export type Swapped = {
  readonly type: 'swapped'
  readonly sender: string
  readonly recipient: string
  readonly delta0: bigint
  readonly delta1: bigint
}
