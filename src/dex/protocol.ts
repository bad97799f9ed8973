import type { DexDeployment } from '../domain/chain-settings.ts'
import type { CreatedPool } from '../domain/created-pool.ts'
import type { PoolState, Pricing, RawLog } from '../domain/envelope.ts'
import type { LaunchEvent, PoolCreated, PoolEvent, TokenEvent } from './events.ts'

export type { DexDeployment }

/** Returns undefined unless the log is exactly the expected event, because logs are untrusted input. */
export type ReadEvent<Event> = (log: RawLog) => Event | undefined

/** Keyed by topic. */
export type EventReaders<Event> = Readonly<Record<string, ReadEvent<Event>>>

/** A protocol's decoders and properties. A fork of a protocol is a row in the configuration. */
export type Protocol = {
  /** Events by which the factory announces a new pool. */
  readonly announcements: EventReaders<PoolCreated>
  /** Events of its pools. */
  readonly events: EventReaders<PoolEvent>
  /** Events of a launch platform about its tokens. */
  readonly tokenEvents?: EventReaders<TokenEvent>
  /** The factory holds all pools and emits their events; each event carries its pool's id. */
  readonly isSingleton: boolean
  /** A launch platform: each of its pools, if it has any, is a bonding curve that sells the first of its two tokens. */
  readonly isLaunchPlatform?: true
  /** Events of a launch platform that open and close the curve of a token, by which older launches are found. */
  readonly launchEvents?: EventReaders<LaunchEvent>
  /**
   * The contract that pays out what is bought. Set if events do not report both sender and recipient of a swap, and they
   * can be taken from its transaction.
   */
  readonly payerOf?: (log: RawLog) => string
  /** The platform that a pool belongs to, if several share the program: an address in the pool's logs. */
  readonly platformOf?: (log: RawLog) => string | undefined
  /**
   * How to simulate a trade: against the reserves (v2), for the amount that the pool quotes (solidly), with a payment
   * callback as in concentrated pools (v3), the same in pools that call plugins (algebra), in a session of the contract that
   * holds the tokens of all pools (vault), with the platform of a bonding curve (curve), or by the program's own instruction
   * (cpmm).
   */
  readonly trial?: 'v2' | 'solidly' | 'v3' | 'algebra' | 'vault' | 'curve' | 'cpmm'
  /** Reads how to swap in a pool of a vault. */
  readonly readMarket?: ReadMarket
  /** Reads how to trade with the curve of a token. */
  readonly readCurve?: (token: string, deployment: DexDeployment) => CurveInquiry
  readonly reserves: ReservesBy
  readonly identify: Identify
  /** Finds pools of a token that no creation event names, because its contracts list them by token. */
  readonly findPools?: FindPools
  /** Reads the state of a pool that has no event to report it; absent if calls do not determine it. */
  readonly readState?: ReadState
}

/** The words of the key that a pool's ID is the hash of. */
export type PoolKey = readonly string[]

/** `key` is given if the pool's announcement is known. */
export type ReadMarket = (pool: string, deployment: DexDeployment, key: PoolKey | undefined) => MarketInquiry

/** Like an `Inquiry`; returns undefined if the key is unknown or there is no such pool. */
export type MarketInquiry = Generator<readonly Call[], VaultMarket | undefined, readonly Answer[]>

export type VaultMarket = {
  /** Swaps. */
  readonly manager: string
  /** Holds the tokens and opens sessions; the manager itself in Uniswap V4. */
  readonly vault: string
  /** Selector of the function that opens a session. */
  readonly opening: string
  /** The call that swaps, up to its parameters: selector and key. */
  readonly swap: string
  readonly hasHooks: boolean
  /** Reserves of a pool without ranges that has the same price and depth. */
  readonly virtualReserves: readonly [bigint, bigint]
}

/** Like an `Inquiry`; returns undefined if the curve does not trade. */
export type CurveInquiry = Generator<readonly Call[], CurveMarket | undefined, readonly Answer[]>

export type CurveMarket = {
  readonly platform: string
  /** What a purchase costs at most. */
  readonly amount: bigint
  readonly purchase: string
  /** The call that sells, before and after the amount. */
  readonly sale: readonly [string, string]
}

export type ReadState = (pool: CreatedPool, deployment: DexDeployment) => StateInquiry

/** Like an `Inquiry`; returns undefined if there is no such pool. All calls are in the state after one block. */
export type StateInquiry = Generator<readonly Call[], PoolState | undefined, readonly Answer[]>

/**
 * Source of a pool's reserves. `reported`: its events report them. `counted`: the sum of inflows and outflows, with or
 * without uncollected fees. `unknown`: events do not determine them.
 */
export type ReservesBy = 'reported' | 'counted' | 'counted_without_fees' | 'unknown'

/**
 * Identifies a pool that is older than the first block read. A pool may claim anything, so it counts only if the
 * factory confirms it or its address follows from its claims. Undefined if none of these factories created it. `log` is
 * the pool's first appearance, because some ids are hashes that only the log resolves.
 */
export type Identify = (pool: string, deployments: readonly DexDeployment[], log?: RawLog) => Inquiry

/** Yields batches of calls, receives their results in the same order, and returns the identified pool. */
export type Inquiry = Generator<readonly Call[], FoundPool | undefined, readonly Answer[]>

/** Pools of a token that the exchanges confirm; those with other tokens than quote assets may be missing. */
export type FindPools = (
  token: string,
  quoteAssets: readonly string[],
  deployments: readonly DexDeployment[],
) => Generator<readonly Call[], readonly NamedPool[], readonly Answer[]>

export type NamedPool = FoundPool & { readonly address: string }

export type Call = {
  readonly to: string
  readonly data: string
  /** Called in the state before the current block instead of after it. */
  readonly before?: boolean
}

/** Undefined if the call failed or the address has no code. */
export type Answer = Uint8Array | undefined

export type FoundPool = {
  readonly factory: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** Reserves before this block, for protocols whose reserves are counted. */
  readonly reservesBefore: readonly bigint[] | undefined
  /** Amount of the second token that a bonding curve has to raise, if the platform reports it. */
  readonly goalRaw?: bigint | undefined
}
