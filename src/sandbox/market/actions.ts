/** Index of a coin: ether and the dollar come first, tokens after them in the order of their creation. */
export type Coin = number
export const ETHER: Coin = 0
export const DOLLAR: Coin = 1

/** Index of an account of the node. */
export type Wallet = number

/** A curve is a sale on the launchpad. */
export type Venue = 'v2' | 'v3' | 'v4' | 'curve'

export const TRADER_KINDS = ['maker', 'arbitrage', 'momentum', 'noise', 'creator'] as const
export type TraderKind = (typeof TRADER_KINDS)[number]

export type TokenSpec = {
  readonly coin: Coin
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly supplyRaw: bigint
  /** Only its creator can sell it. */
  readonly isTrap: boolean
  readonly creator: Wallet
}

export type PoolSpec = {
  /** Index of the pool, in the order in which pools are opened. */
  readonly pool: number
  readonly venue: Venue
  readonly base: Coin
  readonly quote: Coin
  /** In millionths. */
  readonly fee: number
  /** Owner of its liquidity; undefined if that is the launchpad. */
  readonly provider: Wallet | undefined
}

/** A step of the market, as its participants intend it. Amounts are in base units. */
export type Action =
  | { readonly type: 'createToken'; readonly token: TokenSpec }
  | {
      readonly type: 'transfer'
      readonly coin: Coin
      readonly from: Wallet
      readonly to: readonly Wallet[]
      /** To each of them. */
      readonly raw: bigint
    }
  | {
      readonly type: 'openPool'
      readonly spec: PoolSpec
      readonly baseRaw: bigint
      readonly quoteRaw: bigint
    }
  | { readonly type: 'openCurve'; readonly spec: PoolSpec }
  | {
      readonly type: 'resize'
      readonly pool: number
      /** Adds so many millionths of what the pool holds, or removes them (negative); a million is all. */
      readonly ppm: number
      readonly baseRaw: bigint
      readonly quoteRaw: bigint
    }
  | {
      readonly type: 'swap'
      readonly pool: number
      readonly by: TraderKind
      readonly wallet: Wallet
      readonly sold: Coin
      readonly raw: bigint
      /** The pool that replaces the curve, if this purchase completes the sale. */
      readonly graduatesTo?: PoolSpec
    }

export type ActionOf<T extends Action['type']> = Extract<Action, { readonly type: T }>
