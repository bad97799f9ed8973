import type { ContractReport } from './contract-report.ts'
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
  /** The chain's head once this set is applied, and the time of the first block that was read. */
  readonly head: BlockRef & { readonly time: number; readonly startTime?: number }
  /** Nothing at or below this block can change any more. */
  readonly finalNumber: number
  readonly changes: readonly Change[]
}

export type Change =
  | { readonly type: 'trade'; readonly trade: Trade }
  | { readonly type: 'candle'; readonly candle: Candle }
  | { readonly type: 'pair'; readonly pair: Pair }
  | { readonly type: 'token'; readonly token: Token }
  | { readonly type: 'liquidity'; readonly liquidity: LiquidityEvent }
  | { readonly type: 'windows'; readonly windows: Windows }
  | { readonly type: 'switch'; readonly switch: MainPairSwitch }
  | { readonly type: 'balance'; readonly balance: Balance }
  | { readonly type: 'contract'; readonly contract: ContractReport }
  | { readonly type: 'tradeRemoved'; readonly trade: EventRef }
  | { readonly type: 'candleRemoved'; readonly candle: CandleRef }
  | { readonly type: 'pairRemoved'; readonly pair: string }
  | { readonly type: 'tokenRemoved'; readonly token: string }
  | { readonly type: 'liquidityRemoved'; readonly liquidity: EventRef }
  | { readonly type: 'windowsRemoved'; readonly windows: WindowsRef }
  | { readonly type: 'contractRemoved'; readonly token: string }
  /** The token has its old main pair again. */
  | { readonly type: 'switchRemoved'; readonly switch: MainPairSwitch }

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
  readonly sold: EventSide
  readonly bought: EventSide
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
  readonly liquidityUsd: Value | undefined
  readonly liquidityNative: Value | undefined
}

export type TradeDirection = 'buy' | 'sell'

/** One token's part in a trade or liquidity event. */
export type EventSide = {
  readonly token: string
  readonly symbol: string
  readonly decimals: number | undefined
  readonly amountRaw: bigint
  /** Of the pool, after the event. */
  readonly reserveRaw: bigint | undefined
  readonly priceUsd: Price | undefined
  readonly priceNative: Price | undefined
}

export type EventRef = { readonly key: OrderKey; readonly time: number; readonly pair: string }

export const LIQUIDITY_KINDS = ['addLiquidity', 'removeLiquidity', 'createPair', 'collectFee'] as const

export type LiquidityEvent = EventRef & {
  readonly kind: (typeof LIQUIDITY_KINDS)[number]
  readonly amm: string
  readonly transaction: string
  /** Whose liquidity it is; empty where the protocol does not say. */
  readonly provider: string
  /** Who signed the transaction. */
  readonly wallet: string
  readonly side0: EventSide
  readonly side1: EventSide
  /** Both amounts at the pool price. */
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
  readonly liquidityUsd: Value | undefined
  readonly liquidityNative: Value | undefined
}

export type CandleRef = { readonly pair: string; readonly interval: Interval; readonly start: number }

export type Candle = CandleRef & {
  readonly usd: CandleValues | undefined
  readonly native: CandleValues | undefined
  /** In the pair's other token: of the amounts alone, so it is known where no price of that token is. */
  readonly quote: CandleValues | undefined
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
  /** Unknown where the sum, or the value of one trade, is beyond the limits of a value. */
  readonly volume: Value | undefined
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
  /** Time of its creation event. Unknown if that was before the first block read, and then so is all that counts from there. */
  readonly createdAt: number | undefined
  readonly updatedAt: number
  /** Unknown unless the creation was read. */
  readonly firstTradeAt: number | undefined
  readonly lastTradeAt: number | undefined
  /** Of the target token, in the last swap: what was paid. */
  readonly lastTradePriceUsd: Price | undefined
  readonly lastSide: TradeDirection | undefined
  /** Unknown unless the creation was read. */
  readonly athPriceUsd: Price | undefined
}

export type PairSide = {
  readonly token: string
  readonly symbol: string
  readonly decimals: number | undefined
  readonly reserveRaw: bigint | undefined
  /** Unknown unless the creation was read. */
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
  /** The deepest verified pair that has this token as its target; if none has, the deepest that has it as its quote. */
  readonly mainPair: string | undefined
  readonly mainPairTvlUsd: Value | undefined
  /** Over all its pairs, on whichever side it stands. */
  readonly tvlUsd: Value | undefined
  readonly fdvUsd: Value | undefined
  /** Of what can be sold: the supply without what is burned or locked. */
  readonly marketCapUsd: Value | undefined
  /** Unknown where balances change without transfers, and until the token answered or all transfers have been read. */
  readonly holding: TokenHolding | undefined
  /** When it was first transferred, and who signed that transaction. */
  readonly origin: TokenOrigin | undefined
  /** Its first trade, where the pair was seen from its creation. */
  readonly launch: TokenLaunch | undefined
  /** The launch platform it came from. */
  readonly platform: TokenPlatform | undefined
  /** What the examination of its contract comes to. */
  readonly risk: TokenRisk | undefined
  readonly updatedAt: number
}

export type TokenHolding = {
  /** Addresses that hold some of it; unknown until all its transfers have been read. */
  readonly holders: number | undefined
  /** Sent to where nobody can take it from. */
  readonly burnedRaw: bigint
  /** Held by contracts that give it back later. */
  readonly lockedRaw: bigint
  /** The supply without what is burned or locked; unknown where the supply is. */
  readonly circulatingRaw: bigint | undefined
}

export type TokenOrigin = { readonly time: number; readonly creator: string }

export type TokenLaunch = { readonly time: number; readonly priceUsd: Price | undefined }

/** A bonding curve sells a token until its goal is reached; then the token is traded like any other. */
export type TokenPlatform = {
  readonly name: string
  /** Unknown where it was created before the first block read. */
  readonly createdAt: number | undefined
  /** Millionths of the goal; unknown where the goal is. */
  readonly progressPpm: number | undefined
  /** When the curve was closed; undefined while it is not. */
  readonly graduatedAt: number | undefined
}

export type TokenRisk = {
  /** From 0 to 100: higher is riskier. */
  readonly score: number
  /** Unknown where no trade could be simulated. */
  readonly isHoneypot: boolean | undefined
  readonly isMintable: boolean
}

/** What an address holds of a token, or of a pool's shares. Below zero while older transfers are still being read. */
export type Balance = {
  readonly token: string
  readonly holder: string
  readonly amountRaw: bigint
  /** What was told of it before: whoever keeps holders in order has to take it out there. */
  readonly beforeRaw: bigint
}

export const SWITCH_REASONS = ['deeper', 'emptied', 'graduated'] as const

/** A token's price comes from another pair than before. There is at most one in a block. */
export type MainPairSwitch = {
  readonly token: string
  readonly block: number
  readonly time: number
  readonly oldPair: string
  readonly newPair: string
  /**
   * The new pair is deeper by more than the margin, what the old one holds is not known any more, or the old one is
   * the bonding curve that launched the token and was closed.
   */
  readonly reason: (typeof SWITCH_REASONS)[number]
}

/**
 * Whose windows they are. Most tokens are traded in one pair only, and then both have the same windows; a token
 * that is traded in several pairs has windows of its own.
 */
export type WindowsRef = { readonly pair: string | undefined; readonly token: string | undefined }

/** What was traded lately, by minutes of block time. */
export type Windows = WindowsRef & {
  /** By `WINDOWS`, shortest first. */
  readonly lengths: readonly WindowSums[]
  /** Of the target token, or of the token whose windows they are, in 24 hours; unknown beyond the limits of an amount. */
  readonly amountRaw: bigint | undefined
  /** Of trade prices, in 24 hours; unknown when there were none. */
  readonly highUsd: Price | undefined
  readonly lowUsd: Price | undefined
  /** What the target counted for after the last block with a trade. */
  readonly priceUsd: Price | undefined
  /** The day (UTC) of that trade, and what the target counted for when it began. */
  readonly day: number
  readonly dayOpenUsd: Price | undefined
}

export type WindowSums = {
  /** Unknown where the sum, or the value of one trade, is beyond the limits of a value. */
  readonly buyUsd: Value | undefined
  readonly sellUsd: Value | undefined
  readonly buys: number
  readonly sells: number
  /** Distinct wallets: that traded, bought, sold. */
  readonly makers: number
  readonly buyers: number
  readonly sellers: number
  /** What the target counted for when the window began, or when it was first traded, if that is later. */
  readonly openUsd: Price | undefined
}
