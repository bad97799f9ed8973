import type { BlockRef } from './envelope.ts'
import type { Interval } from './interval.ts'
import type { Price, Value } from './money.ts'
import type { OrderKey } from './order-key.ts'

/**
 * What the engine appends to the CHANGES log: for each BLOCKS message, one set with everything that became
 * different. Corrections go forward: an undo is an ordinary set with a larger `seq`.
 */
export type ChangeSet = {
  readonly chain: string
  /** Sequence, in BLOCKS, of the message that caused this set; it is the version of everything in it. */
  readonly seq: number
  readonly cause: 'block' | 'undo' | 'final'
  /** The chain's head once this set is applied. */
  readonly head: BlockRef & { readonly time: number }
  /** Nothing at or below this block can change any more. */
  readonly finalNumber: number
  readonly changes: readonly Change[]
}

export type Change =
  | { readonly type: 'trade'; readonly trade: Trade }
  | { readonly type: 'candle'; readonly candle: Candle }
  | { readonly type: 'pair'; readonly pair: Pair }
  | { readonly type: 'token'; readonly token: Token }
  | { readonly type: 'tradeRemoved'; readonly trade: TradeRef }
  | { readonly type: 'candleRemoved'; readonly candle: CandleRef }
  | { readonly type: 'pairRemoved'; readonly pair: string }
  | { readonly type: 'tokenRemoved'; readonly token: string }

/** A field that is `undefined` is unknown; nothing is ever guessed or filled in with zero. */
export type Trade = {
  readonly key: OrderKey
  readonly time: number
  readonly pair: string
  readonly amm: string
  readonly transaction: string
  /** Who called the pool, and who was paid; empty where the protocol does not say. */
  readonly sender: string
  readonly recipient: string
  /** Who signed the transaction. */
  readonly wallet: string
  readonly targetToken: string | undefined
  /** Of the target token. */
  readonly side: TradeDirection | undefined
  readonly sold: TradeSide
  readonly bought: TradeSide
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
  readonly liquidityUsd: Value | undefined
  readonly liquidityNative: Value | undefined
}

export type TradeDirection = 'buy' | 'sell'

export type TradeSide = {
  readonly token: string
  readonly symbol: string
  readonly decimals: number | undefined
  readonly amountRaw: bigint
  /** Of the pool, after the swap. */
  readonly reserveRaw: bigint | undefined
  readonly priceUsd: Price | undefined
  readonly priceNative: Price | undefined
}

export type TradeRef = { readonly key: OrderKey; readonly time: number; readonly pair: string }

export type CandleRef = { readonly pair: string; readonly interval: Interval; readonly start: number }

export type Candle = CandleRef & {
  readonly usd: CandleValues | undefined
  readonly native: CandleValues | undefined
  readonly tradeCount: number
  readonly firstTrade: OrderKey
  readonly lastTrade: OrderKey
}

/** Made of trade prices, in order-key order. */
export type CandleValues = {
  readonly open: Price
  readonly high: Price
  readonly low: Price
  readonly close: Price
  readonly volume: Value
}

export type Pair = {
  readonly address: string
  readonly amm: string
  readonly token0: PairSide
  readonly token1: PairSide
  /** The side that is not a quote asset; unknown while neither side is one. */
  readonly targetToken: string | undefined
  readonly isMain: boolean
  /** Both sides' reserves at the pool price. */
  readonly tvlUsd: Value | undefined
  readonly tvlNative: Value | undefined
  readonly fdvUsd: Value | undefined
  readonly createdAt: number | undefined
  readonly updatedAt: number
  readonly firstTradeAt: number | undefined
  readonly lastTradeAt: number | undefined
  /** Of the target token, in the last swap: what was paid. */
  readonly lastTradePriceUsd: Price | undefined
  readonly lastSide: TradeDirection | undefined
  readonly athPriceUsd: Price | undefined
}

export type PairSide = {
  readonly token: string
  readonly symbol: string
  readonly decimals: number | undefined
  readonly reserveRaw: bigint | undefined
  readonly initialReserveRaw: bigint | undefined
  /** By the pool price, after the last event. */
  readonly priceUsd: Price | undefined
  readonly priceNative: Price | undefined
}

export type Token = {
  readonly address: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number | undefined
  readonly supplyRaw: bigint | undefined
  readonly priceUsd: Price | undefined
  readonly priceNative: Price | undefined
  /** Of the deepest verified pair that has this token as its target. */
  readonly mainPair: string | undefined
  readonly mainPairTvlUsd: Value | undefined
  /** Over all pairs that have this token as their target. */
  readonly tvlUsd: Value | undefined
  readonly fdvUsd: Value | undefined
  readonly updatedAt: number
}
