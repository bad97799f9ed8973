import type { Pricing, RawLog } from '../domain/envelope.ts'
import type { PoolCreated, PoolEvent } from './events.ts'

/** One exchange on one chain: whose pools count, what to call it, who decodes it, and from when to when. */
export type DexDeployment = {
  readonly amm: string
  readonly protocol: string
  /** Creates the pools, or holds all of them. */
  readonly factory: string
  readonly fromBlock?: number | undefined
  readonly untilBlock?: number | undefined
  /** With it, a pool's address follows from its tokens: whether it is the factory's own need not be asked. */
  readonly initCodeHash?: string | undefined
  /** Who creates the pools, if it is not the factory itself. */
  readonly deployer?: string | undefined
  /** Knows the tokens of pools that the factory keeps only as a hash. */
  readonly positionManager?: string | undefined
}

/** Undefined for anything that is not exactly the expected event: logs are untrusted input. */
export type ReadEvent<Event> = (log: RawLog) => Event | undefined

/** By topic. */
export type EventReaders<Event> = Readonly<Record<string, ReadEvent<Event>>>

/** All that is to be known of a protocol. A fork of it is a row in the configuration. */
export type Protocol = {
  /** How the factory says that there is a new pool. */
  readonly announcements: EventReaders<PoolCreated>
  /** What its pools say. */
  readonly events: EventReaders<PoolEvent>
  /** The factory holds all the pools: it speaks for them, and each event names its pool. */
  readonly isSingleton: boolean
  /** It launches tokens: each of its pools is a bonding curve that sells the first of its two tokens. */
  readonly isLaunchPlatform?: true
  /** How a trade can be tried out: by what a pool holds, or as in concentrated pools that call back for payment. */
  readonly trial?: 'v2' | 'v3'
  readonly reserves: ReservesBy
  readonly identify: Identify
}

/**
 * How what a pool holds is known: told by its events; counted from what goes in and out, with or without the fees
 * that wait in it for their owners; or not to be known from events.
 */
export type ReservesBy = 'told' | 'counted' | 'counted_without_fees' | 'unknown'

/**
 * Finds out about a pool that was there before we looked. A pool may claim anything: it counts only if the
 * factory knows it or its address follows from what it claims. Undefined when it is none of these factories'.
 * `log` is where it was first named: of some pools it tells what their id does not.
 */
export type Identify = (pool: string, deployments: readonly DexDeployment[], log?: RawLog) => Inquiry

/** Yields calls that are asked all at once, gets their answers in the same order, and returns what they mean. */
export type Inquiry = Generator<readonly Call[], FoundPool | undefined, readonly Answer[]>

export type Call = {
  readonly to: string
  readonly data: string
  /** Asked in the state before the block that is being read, not after it. */
  readonly before?: boolean
}

/** Undefined when the call failed, or there was nothing to call. */
export type Answer = Uint8Array | undefined

export type FoundPool = {
  readonly factory: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** What it held before this block, where that is counted. */
  readonly reservesBefore: readonly bigint[] | undefined
  /** What a bonding curve has to raise of its second token, where it says. */
  readonly goalRaw?: bigint | undefined
}
