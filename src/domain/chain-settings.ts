import type { Value } from './money.ts'

/**
 * The version of the fold's rules in this program. A program that computes a value differently raises it, and folds a
 * log by the version that the log's settings name.
 */
export const RULES_VERSION = 2

/** The rules of the first release, which also apply to blocks before the first settings in a log. */
export const FIRST_RULES = 1

/** From these rules on, a pair without a quote asset is priced by the route of one of its tokens. */
export const ROUTES_RULES = 2

/** From these rules on, settings name the native coin and its supply. */
export const NATIVE_SUPPLY_RULES = 2

/** From these rules on, a trade has what only its transaction reports: sender, recipient, and the wallet's holdings. */
export const PARTIES_RULES = 2

/** Everything that the fold of a chain depends on besides the blocks themselves. Equal settings have equal bytes. */
export type ChainSettings = {
  readonly rules: number
  /** In the order of the file: of several rows that fit a pool, the first one counts. */
  readonly dexes: readonly DexDeployment[]
  /** Highest rank first. */
  readonly quoteAssets: readonly QuoteAsset[]
  /** A pool with less than this on its quote side is too easy to manipulate to price other tokens. */
  readonly minDepthUsd: Value
  /** Contracts that lock tokens for a period and then release them; ascending, each once. */
  readonly lockers: readonly string[]
  /** Not before `NATIVE_SUPPLY_RULES`. */
  readonly native?: NativeSupply | undefined
}

/** The coin that pays for transactions: no contract reports how much of it exists. */
export type NativeSupply = {
  /** Represents the coin itself, which is not the wrapped one on EVM chains. */
  readonly address: string
  /** As the operator states it. */
  readonly supplyRaw: bigint | undefined
}

/** One exchange on one chain: its factory, its public name, its decoder and its range of blocks. */
export type DexDeployment = {
  readonly amm: string
  readonly protocol: string
  /** Creates the pools, or holds all of them. */
  readonly factory: string
  readonly fromBlock?: number | undefined
  readonly untilBlock?: number | undefined
  /** Lets us verify a pool by its CREATE2 address instead of a call to the factory. */
  readonly initCodeHash?: string | undefined
  /**
   * The contract that creates the pools, if it is not the factory; of a launch program that several platforms share, the
   * platform's account (`platform_config`).
   */
  readonly deployer?: string | undefined
  /** Resolves pool ids to tokens if the factory stores only hashes. */
  readonly positionManager?: string | undefined
}

export const QUOTE_KINDS = ['stable', 'native', 'major'] as const
export type QuoteAsset = { readonly address: string; readonly kind: (typeof QUOTE_KINDS)[number] }

/** The order of lockers in `ChainSettings`. */
export function sortedLockers(lockers: Iterable<string>): string[] {
  return [...new Set(lockers)].sort()
}
