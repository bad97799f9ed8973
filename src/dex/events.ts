import type { Pricing } from '../domain/envelope.ts'

/** Decoded events, common to all protocols. Amounts are exact base units. */
export type DexEvent = PoolCreated | PoolEvent

/** An event of an existing pool. */
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

/** A token of a pool: its index in the pool's list or its address, depending on the event. */
export type TokenRef = number | string

/** Never negative. */
export type TokenAmount = { readonly token: TokenRef; readonly amount: bigint }

/** Price of the first token in units of the second after the event, in the representation of the pool. */
export type PoolPrice =
  | { readonly kind: 'sqrt'; readonly sqrtPriceX96: bigint; readonly tick: number }
  | { readonly kind: 'bin'; readonly id: number }

export type PoolCreated = {
  readonly type: 'poolCreated'
  readonly pool: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** Set if pools of the protocol are created with a price. */
  readonly price?: PoolPrice
  /** Set if the state of a pool cannot be read without it. */
  readonly tickSpacing?: number
  /** Amount of the second token that a bonding curve has to raise, if the event reports it. */
  readonly goalRaw?: bigint
}

export type PriceSet = { readonly type: 'priceSet'; readonly pool: string; readonly price: PoolPrice }

/** Reserves of a pool of two tokens after the event. */
export type ReservesSet = {
  readonly type: 'reservesSet'
  readonly pool: string
  readonly reserve0: bigint
  readonly reserve1: bigint
}

/** From the pool's point of view: positive amounts come in, negative ones go out. */
export type Swapped = {
  readonly type: 'swapped'
  readonly pool: string
  /** The pool's caller and the recipient of the output; undefined if the protocol does not report them. */
  readonly sender: string | undefined
  readonly recipient: string | undefined
  readonly token0: TokenRef
  readonly token1: TokenRef
  readonly delta0: bigint
  readonly delta1: bigint
  readonly price: PoolPrice | undefined
  /** Fee in millionths of the input, if the event reports it. */
  readonly feePpm?: number
  /** Part of the fee that leaves the pool immediately, if any. */
  readonly protocolFeePpm?: number
  /** Reserves of both tokens after the event, if the event reports them. */
  readonly reserves?: readonly [bigint, bigint]
  /** Amount of the second token that a bonding curve has to raise, if the event reports it. */
  readonly goalRaw?: bigint
}

export type LiquidityAdded = {
  readonly type: 'liquidityAdded'
  readonly pool: string
  readonly provider: string | undefined
  readonly amounts: readonly TokenAmount[]
  /** Reserves of both tokens after the event, if they are known. */
  readonly reserves?: readonly [bigint, bigint]
}

export type LiquidityRemoved = {
  readonly type: 'liquidityRemoved'
  readonly pool: string
  readonly provider: string | undefined
  readonly amounts: readonly TokenAmount[]
  /** Some pools keep removed tokens, owed to the provider, until they are collected. */
  readonly isPaidOut: boolean
  /** Reserves of both tokens after the event, if they are known. */
  readonly reserves?: readonly [bigint, bigint]
}

/** Liquidity of a price range, added (positive) or removed. The token amounts follow from the pool's price. */
export type LiquidityMoved = {
  readonly type: 'liquidityMoved'
  readonly pool: string
  readonly provider: string | undefined
  readonly tickLower: number
  readonly tickUpper: number
  readonly liquidityDelta: bigint
}

/** A payout of owed tokens: fees and, in pools that do not pay out on removal, the removed liquidity. */
export type FeesCollected = {
  readonly type: 'feesCollected'
  readonly pool: string
  readonly provider: string | undefined
  readonly amounts: readonly TokenAmount[]
}

/** Paid in without anything in return: donations to the providers, fees of flash loans. */
export type Donated = {
  readonly type: 'donated'
  readonly pool: string
  readonly amounts: readonly TokenAmount[]
}

/** A bonding curve starts to sell its token. */
export type CurveOpened = { readonly type: 'curveOpened'; readonly pool: string }

/** Progress of a curve toward its goal, if the platform reports it. */
export type CurveProgressed = {
  readonly type: 'curveProgressed'
  readonly pool: string
  /** Millionths. */
  readonly progressPpm: number
}

/** A curve has reached its goal. The raised funds move to a pool, where the token trades from then on. */
export type CurveClosed = { readonly type: 'curveClosed'; readonly pool: string }

/** An event about the launch of a token, for tokens that are older than the first block read. */
export type LaunchEvent = { readonly token: string; readonly is: 'created' | 'graduated' }

/** An event of a launch platform about one of its tokens, emitted outside of pools. */
export type TokenEvent = TokenLaunched | TokenGraduated | CurveDrained

/** A token without a bonding curve: it trades in a pool of another exchange from the start. */
export type TokenLaunched = { readonly type: 'tokenLaunched'; readonly token: string }

/** A token has left its bonding curve. */
export type TokenGraduated = {
  readonly type: 'tokenGraduated'
  readonly token: string
  /** The token that trades from now on, if the platform replaces the one of the curve. */
  readonly successor?: string
}

/** The platform has taken all funds out of a bonding curve; the token has not graduated. */
export type CurveDrained = { readonly type: 'curveDrained'; readonly token: string }
