import type { ChainSettings } from './chain-settings.ts'
import type { Inspection } from './inspection.ts'
import type { WalletBalances } from './wallet-balances.ts'

/** A message of the BLOCKS log of a chain, appended by the reader in total order. */
export type Envelope = BlockEnvelope | UndoEnvelope | FinalEnvelope | SettingsEnvelope

/**
 * The longest window plus an hour, so that the blocks after the last old one fill every window once the reader is at the
 * head.
 */
export const OLD_AFTER_SECONDS = 25 * 3_600

export type BlockRef = { readonly number: number; readonly hash: string }

export type BlockEnvelope = {
  readonly kind: 'block'
  readonly chain: string
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Unix seconds. The engine has no other clock. */
  readonly time: number
  /** More than `OLD_AFTER_SECONDS` older than the chain's head was when the block was read; absent means false. */
  readonly isOld?: boolean
  /**
   * Transactions with at least one log of a known program, in chain order. The logs are raw, so a replay repairs a
   * decoder bug.
   */
  readonly transactions: readonly RawTransaction[]
  /** Node responses that the engine needs to interpret the logs. */
  readonly facts: readonly Fact[]
}

/** Retracts every block after `lastValid`. */
export type UndoEnvelope = { readonly kind: 'undo'; readonly chain: string; readonly lastValid: BlockRef }

/** Blocks up to `upTo` can no longer be undone. */
export type FinalEnvelope = { readonly kind: 'final'; readonly chain: string; readonly upTo: BlockRef }

/**
 * The settings by which all blocks after it in the log are read and folded. An undo does not retract it. Until the
 * first one, each role applies its own configuration.
 */
export type SettingsEnvelope = {
  readonly kind: 'settings'
  readonly chain: string
  readonly settings: ChainSettings
}

export type RawTransaction = {
  readonly index: number
  readonly hash: string
  readonly from: string
  readonly logs: readonly RawLog[]
  /** Absent if the chain does not report balances with a transaction. */
  readonly wallet?: WalletBalances | undefined
}

export type RawLog = {
  /** Log index in the block, not in the transaction. */
  readonly index: number
  readonly address: string
  readonly topics: readonly string[]
  readonly data: Uint8Array
}

export type Fact =
  | PoolFact
  | PoolStateFact
  | TokenFact
  | LaunchFact
  | TransfersFact
  | BalanceFact
  | NonCirculatingFact
  | InspectionFact
  | InspectionFailureFact

/** A pool of an allow-listed factory, at its first appearance. */
export type PoolFact = {
  readonly type: 'pool'
  /** Address of its contract, or its 32-byte id if it has no contract of its own. */
  readonly address: string
  readonly factory: string
  /** In the pool's own order: most pools have two tokens, some have more. */
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** Reserves before this block, in the order of `tokens`; undefined if events report them or no source does. */
  readonly reservesBefore: readonly bigint[] | undefined
  /** Amount of the second token that a bonding curve has to raise, if the curve reports it. */
  readonly goalRaw?: bigint | undefined
}

/** The state of a pool after this block and its events, for what its events do not report. */
export type PoolStateFact = PoolState & { readonly type: 'poolState'; readonly address: string }

export type PoolState = {
  /** In the order of the pool's tokens; undefined if they cannot be read. */
  readonly reserves: readonly bigint[] | undefined
  readonly price: StatedPrice | undefined
}

export type StatedPrice =
  | { readonly kind: 'sqrt'; readonly sqrtPriceX96: bigint; readonly tick: number }
  | { readonly kind: 'bin'; readonly id: number }
  /** Amounts of both tokens that the pool exchanges for each other. */
  | { readonly kind: 'exchange'; readonly raw0: bigint; readonly raw1: bigint }

/** How the price of a pool is derived. */
export type Pricing =
  /** From the ratio of its reserves. */
  | { readonly kind: 'reserves' }
  /** From the square root price that the pool emits. */
  | { readonly kind: 'sqrtPrice' }
  /** From the active bin; each bin's price is `binStep` basis points above the one below. */
  | { readonly kind: 'bins'; readonly binStep: number }
  /** From trade prices only. */
  | { readonly kind: 'trades' }

/** A token's own metadata, read at its first appearance. Undefined means the token did not answer. */
export type TokenFact = {
  readonly type: 'token'
  readonly address: string
  /** As returned by the contract, truncated to a limit; cleaned before display. */
  readonly nameRaw: Uint8Array
  readonly symbolRaw: Uint8Array
  readonly decimals: number | undefined
  readonly supplyRaw: bigint | undefined
}

/** The launch of a token by the events of its platform, from before the log began. */
export type LaunchFact = {
  readonly type: 'launch'
  /** The token. */
  readonly address: string
  /** The platform's contract. */
  readonly factory: string
  /** The block of the first event, whose row of the settings has the platform's name. */
  readonly block: number
  readonly createdAt: number | undefined
  /** Undefined if the token was still on its curve. */
  readonly graduatedAt: number | undefined
}

/**
 * Net transfers of a token or LP token over a range of blocks before its discovery. Later transfers are in the blocks
 * themselves, so these facts may arrive at any time.
 */
export type TransfersFact = {
  readonly type: 'transfers'
  readonly address: string
  /** The last block of this range; the blocks before the range are already covered. */
  readonly upTo: number
  /** The history is complete. */
  readonly isLast: boolean
  /** The very first transfer, if it is in this range; `IMPORTED_FIRST` if the gains are imported balances. */
  readonly first: { readonly time: number; readonly sender: string } | undefined
  /** Net change per address, negative for a loss. */
  readonly gains: readonly { readonly holder: string; readonly amountRaw: bigint }[]
  /** Minted, minus transfers to the zero address. */
  readonly issuedRaw: bigint
  readonly burnedRaw: bigint
  /** Minted to the zero address. */
  readonly mintedToZeroRaw: bigint
}

/** Result of a contract inspection, in the state after an earlier block. */
export type InspectionFact = {
  readonly type: 'inspection'
  readonly address: string
  readonly inspection: Inspection
}

/** An inspection without a valid result. Recording it lets the queue move on to the next contract. */
export type InspectionFailureFact = {
  readonly type: 'inspectionFailure'
  readonly address: string
  /** The block whose state was inspected. */
  readonly block: number
}

/** A holder's `balanceOf` after this block, compared with the sum of its transfers. */
export type BalanceFact = {
  readonly type: 'balance'
  readonly address: string
  readonly holder: string
  readonly amountRaw: bigint
}

/** Balances of burn addresses and lockers after this block, one for each that was queried. */
export type NonCirculatingFact = {
  readonly type: 'nonCirculating'
  readonly address: string
  readonly balances: readonly { readonly holder: string; readonly amountRaw: bigint }[]
}
