import type { ContractReport } from './contract-report.ts'
import type { BlockRef } from './envelope.ts'
import type { Interval } from './interval.ts'
import type { Price, Value } from './money.ts'
import type { OrderKey } from './order-key.ts'
import type { WalletHolding } from './wallet-balances.ts'

/**
 * A message of the CHANGES log: the engine publishes one set per BLOCKS message, with every value that changed.
 * Corrections go forward: an undo is an ordinary set with a larger `seq`.
 */
export type ChangeSet = {
  readonly chain: string
  /** BLOCKS sequence of the message that caused this set; the version of every record in it. */
  readonly seq: number
  readonly cause: 'block' | 'undo' | 'final'
  /** The chain's head after this set, and the time since which windows contain all trades. */
  readonly head: BlockRef & { readonly time: number; readonly startTime?: number }
  /** Blocks up to this number are final. */
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

/** `undefined` means unknown. The engine never guesses a value or fills in zero. */
export type Trade = {
  readonly key: OrderKey
  readonly time: number
  readonly pair: string
  readonly amm: string
  readonly transaction: string
  /** The pool's caller and the recipient of the output; empty if the protocol does not report them. */
  readonly sender: string
  readonly recipient: string
  /** Signer of the transaction. */
  readonly wallet: string
  readonly targetToken: string | undefined
  /** From the target token's point of view. */
  readonly side: TradeDirection | undefined
  readonly sold: EventSide
  readonly bought: EventSide
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
  readonly liquidityUsd: Value | undefined
  readonly liquidityNative: Value | undefined
  /** Holdings of `wallet` after the transaction; absent if the chain does not report them. */
  readonly holdings?: TradeHoldings
}

export type TradeHoldings = {
  /** The sold token is the first one of the pair. */
  readonly isToken0Sold: boolean
  readonly nativeRaw: bigint | undefined
  readonly sold: WalletHolding | undefined
  readonly bought: WalletHolding | undefined
}

export type TradeDirection = 'buy' | 'sell'

/** One token's part in a trade or liquidity event. */
export type EventSide = {
  readonly token: string
  readonly symbol: string
  readonly decimals: number | undefined
  readonly amountRaw: bigint
  /** The pool's reserve after the event. */
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
  /** Owner of the liquidity; empty if the protocol does not report it. */
  readonly provider: string
  /** Signer of the transaction. */
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
  /**
   * In the pair's quote token. Computed from the amounts alone, so it is known even if the quote token has no price.
   */
  readonly quote: CandleValues | undefined
  readonly tradeCount: number
  readonly firstTrade: OrderKey
  readonly lastTrade: OrderKey
}

/** Built from trade prices in order-key order. */
export type CandleValues = {
  readonly open: Price
  readonly high: Price
  readonly low: Price
  readonly close: Price
  /** Unknown if the sum, or the value of one trade, exceeds `MAX_FIXED`. */
  readonly volume: Value | undefined
}

export type Pair = {
  readonly address: string
  readonly amm: string
  readonly token0: PairSide
  readonly token1: PairSide
  /** The side that is not a quote asset; unknown if neither side is a quote asset. */
  readonly targetToken: string | undefined
  readonly isMain: boolean
  /** Both sides' reserves at the pool price. */
  readonly tvlUsd: Value | undefined
  readonly tvlNative: Value | undefined
  readonly fdvUsd: Value | undefined
  /**
   * Time of the creation event. Unknown if the pair is older than the first block read; then every field counted from
   * the creation is unknown as well.
   */
  readonly createdAt: number | undefined
  readonly updatedAt: number
  /** Unknown unless the creation was read. */
  readonly firstTradeAt: number | undefined
  readonly lastTradeAt: number | undefined
  /** Price of the target token paid in the last swap. */
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
  /** From the pool price after the last event. */
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
  /** The deepest verified pair with this token as its target; without one, the deepest with this token as its quote. */
  readonly mainPair: string | undefined
  readonly mainPairTvlUsd: Value | undefined
  /** Sum over all its pairs, as target or as quote. */
  readonly tvlUsd: Value | undefined
  readonly fdvUsd: Value | undefined
  /** Price times circulating supply, which excludes burned and locked tokens. */
  readonly marketCapUsd: Value | undefined
  /** Unknown if balances change without transfers, and until the token has answered or all transfers are read. */
  readonly holding: TokenHolding | undefined
  /** Time of the first transfer, and the signer of that transaction. */
  readonly origin: TokenOrigin | undefined
  /** First trade; known only if the pair's creation was read. */
  readonly launch: TokenLaunch | undefined
  /** The launch platform that created the token. */
  readonly platform: TokenPlatform | undefined
  /** Summary of the latest contract inspection. */
  readonly risk: TokenRisk | undefined
  readonly updatedAt: number
}

export type TokenHolding = {
  /** Addresses with a balance; unknown until all transfers are read. */
  readonly holders: number | undefined
  /** Held by burn addresses. */
  readonly burnedRaw: bigint
  /** Held by locker contracts, which release it later. */
  readonly lockedRaw: bigint
  /** The supply without burned and locked tokens; unknown if the supply is. */
  readonly circulatingRaw: bigint | undefined
}

export type TokenOrigin = { readonly time: number; readonly creator: string }

export type TokenLaunch = { readonly time: number; readonly priceUsd: Price | undefined }

/** A bonding curve sells a token until it reaches its goal; the token then trades in ordinary pools. */
export type TokenPlatform = {
  readonly name: string
  /** Unknown if the token is older than the first block read. */
  readonly createdAt: number | undefined
  /** Progress in millionths of the goal; unknown if the goal is. */
  readonly progressPpm: number | undefined
  /** Time the curve closed; undefined while it is open. */
  readonly graduatedAt: number | undefined
}

export type TokenRisk = {
  /** 0 to 100; higher is riskier. */
  readonly score: number
  /** Unknown if no trade could be simulated. */
  readonly isHoneypot: boolean | undefined
  readonly isMintable: boolean
}

/** Balance of a token or of LP tokens. Negative while older transfers are still being read. */
export type Balance = {
  readonly token: string
  readonly holder: string
  readonly amountRaw: bigint
  /** The previously published balance, so that a sorted list of holders can remove the old entry. */
  readonly beforeRaw: bigint
}

export const SWITCH_REASONS = ['deeper', 'emptied', 'graduated'] as const

/** A change of the main pair that prices a token. A token has at most one switch per block. */
export type MainPairSwitch = {
  readonly token: string
  readonly block: number
  readonly time: number
  readonly oldPair: string
  readonly newPair: string
  /**
   * `deeper`: the new pair is deeper by more than the margin. `emptied`: the old pair's depth is unknown. `graduated`:
   * the old pair is the bonding curve that launched the token, and it closed.
   */
  readonly reason: (typeof SWITCH_REASONS)[number]
}

/**
 * Owner of the windows. A token that trades in one pair only shares the windows of that pair; a token that trades in
 * several pairs has its own.
 */
export type WindowsRef = { readonly pair: string | undefined; readonly token: string | undefined }

/** Rolling trade statistics, by minutes of block time. */
export type Windows = WindowsRef & {
  /** In the order of `WINDOWS`, shortest first. */
  readonly lengths: readonly WindowSums[]
  /**
   * Traded amount in 24 hours, of the target token or of the token that owns the windows; unknown above `MAX_AMOUNT`.
   */
  readonly amountRaw: bigint | undefined
  /** Trade price extremes in 24 hours; unknown without trades. */
  readonly highUsd: Price | undefined
  readonly lowUsd: Price | undefined
  /** Price of the target token after the last block with a trade. */
  readonly priceUsd: Price | undefined
  /** The UTC day of that trade, and the target token's price at the start of that day. */
  readonly day: number
  readonly dayOpenUsd: Price | undefined
}

export type WindowSums = {
  /** Unknown if the sum, or the value of one trade, exceeds `MAX_FIXED`. */
  readonly buyUsd: Value | undefined
  readonly sellUsd: Value | undefined
  readonly buys: number
  readonly sells: number
  /** Distinct wallets that traded, bought and sold. */
  readonly makers: number
  readonly buyers: number
  readonly sellers: number
  /** Price of the target token at the start of the window, or at its first trade if that is later. */
  readonly openUsd: Price | undefined
}
