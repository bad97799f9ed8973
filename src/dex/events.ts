import type { Pricing } from '../domain/envelope.ts'

/** What decoders make of raw logs, whatever the protocol. Amounts are exact base units. */
export type DexEvent = PoolCreated | PoolEvent

/** What happens in a pool that is there already. */
export type PoolEvent =
  | PriceSet
  | ReservesSet
  | Swapped
  | LiquidityAdded
  | LiquidityRemoved
  | LiquidityMoved
  | FeesCollected
  | Donated
  | CurveOpened
  | CurveProgressed
  | CurveClosed

/** A token of a pool: its place in the pool's list, or its address, whichever the event tells. */
export type TokenRef = number | string

/** Never negative. */
export type TokenAmount = { readonly token: TokenRef; readonly amount: bigint }

/** What one unit of the first token costs in the second, as concentrated pools keep it; after the event. */
export type PoolPrice =
  | { readonly kind: 'sqrt'; readonly sqrtPriceX96: bigint; readonly tick: number }
  | { readonly kind: 'bin'; readonly id: number }

export type PoolCreated = {
  readonly type: 'poolCreated'
  readonly pool: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** Where pools are created with a price. */
  readonly price?: PoolPrice
}

export type PriceSet = { readonly type: 'priceSet'; readonly pool: string; readonly price: PoolPrice }

/** What a pool of two tokens holds after the event. */
export type ReservesSet = {
  readonly type: 'reservesSet'
  readonly pool: string
  readonly reserve0: bigint
  readonly reserve1: bigint
}

/** Seen from the pool: positive came in, negative went out. */
export type Swapped = {
  readonly type: 'swapped'
  readonly pool: string
  /** Who called the pool, and who was paid; undefined where the protocol does not say. */
  readonly sender: string | undefined
  readonly recipient: string | undefined
  readonly token0: TokenRef
  readonly token1: TokenRef
  readonly delta0: bigint
  readonly delta1: bigint
  readonly price: PoolPrice | undefined
  /** Millionths of what came in that were kept as a fee, where the event says so. */
  readonly feePpm?: number
  /** Of these, the part that left the pool at once, where it does. */
  readonly protocolFeePpm?: number
  /** What the pool holds afterwards, of both tokens, where the event says so. */
  readonly reserves?: readonly [bigint, bigint]
}

export type LiquidityAdded = {
  readonly type: 'liquidityAdded'
  readonly pool: string
  readonly provider: string | undefined
  readonly amounts: readonly TokenAmount[]
}

export type LiquidityRemoved = {
  readonly type: 'liquidityRemoved'
  readonly pool: string
  readonly provider: string | undefined
  readonly amounts: readonly TokenAmount[]
  /** In some pools the tokens stay, owed to the provider, until they are collected. */
  readonly isPaidOut: boolean
}

/** Liquidity of a price range added (positive) or removed; its worth in tokens follows from the pool's price. */
export type LiquidityMoved = {
  readonly type: 'liquidityMoved'
  readonly pool: string
  readonly provider: string | undefined
  readonly tickLower: number
  readonly tickUpper: number
  readonly liquidityDelta: bigint
}

/** Tokens leave the pool for someone they are owed to: fees, and where removal does not pay out, what was removed. */
export type FeesCollected = {
  readonly type: 'feesCollected'
  readonly pool: string
  readonly provider: string | undefined
  readonly amounts: readonly TokenAmount[]
}

/** Paid in for nothing in return: gifts to the providers, fees of flash loans. */
export type Donated = {
  readonly type: 'donated'
  readonly pool: string
  readonly amounts: readonly TokenAmount[]
}

/** A bonding curve begins to sell its token. */
export type CurveOpened = { readonly type: 'curveOpened'; readonly pool: string }

/** How much of its goal a curve has reached, where it says. */
export type CurveProgressed = {
  readonly type: 'curveProgressed'
  readonly pool: string
  /** Millionths. */
  readonly progressPpm: number
}

/** A curve has reached its goal. What it raised leaves it for a pool where its token is traded from then on. */
export type CurveClosed = { readonly type: 'curveClosed'; readonly pool: string }
