/** What a token's code can do that its holders may want to know. */
export const CONTRACT_FLAGS = [
  'mint',
  'blacklist',
  'pause',
  'setFees',
  'takeBackOwnership',
  'hiddenOwner',
  'selfdestruct',
  'callsOutInTransfer',
] as const
export type ContractFlag = (typeof CONTRACT_FLAGS)[number]

/** Of each flag, what it was found by. Nothing found: the flag is not set. */
export type Findings = Readonly<Record<ContractFlag, readonly string[]>>

export function findingsBy(evidenceOf: (flag: ContractFlag) => readonly string[]): Findings {
  const entries = CONTRACT_FLAGS.map((flag) => [flag, evidenceOf(flag)] as const)
  return Object.fromEntries(entries) as unknown as Findings
}

/** A token may be made to have any number of findings of any length; this is what is kept. */
export const MAX_FINDINGS = 8
export const MAX_FINDING_LENGTH = 120

export const PROXY_KINDS = ['eip1167', 'eip1967', 'eip1822', 'beacon', 'zeppelin', 'unknown'] as const
export type ProxyKind = (typeof PROXY_KINDS)[number]

/** A contract that runs another one's code. */
export type ContractProxy = {
  readonly kind: ProxyKind
  /** Left out where it delegates in a way that is not known. */
  readonly implementation: string | undefined
  readonly implementationCodeHash: string | undefined
  /** Who may exchange the implementation, where a slot tells; of a beacon, the beacon. */
  readonly admin: string | undefined
}

/** `simulate`: as transactions of wallets, blocks apart. `call`: all within one call, by contracts. */
export const TRIAL_METHODS = ['simulate', 'call'] as const
export type TrialMethod = (typeof TRIAL_METHODS)[number]

export type TrialStep = {
  readonly works: boolean
  /** The part that did not arrive, in millionths; left out where nothing was moved. */
  readonly taxPpm: number | undefined
  /** Of the whole transaction; left out where it was none. */
  readonly gas: number | undefined
  /** Why it does not work, in the contract's own words where it has some. */
  readonly reason: string | undefined
}

/** A purchase, a transfer to somebody else and a sale, tried out in one pool. */
export type TradeTrial = {
  readonly pair: string
  readonly method: TrialMethod
  readonly buy: TrialStep
  /** Left out when nothing was bought that could be moved. */
  readonly transfer: TrialStep | undefined
  readonly sell: TrialStep | undefined
}

/** Why nothing was tried: no pool to try it in, no contract, pools that are (nearly) empty, a quote token nobody can be given. */
export const UNTRIED_REASONS = ['no_pair', 'no_contract', 'no_liquidity', 'no_funds', 'refused'] as const
export type UntriedReason = (typeof UNTRIED_REASONS)[number]

/** What a node says of a token's contract in the state after a block. The same for all nodes with that block. */
export type Inspection = {
  readonly token: string
  readonly block: { readonly number: number; readonly hash: string }
  /** Keccak-256 of the code. */
  readonly codeHash: string
  readonly creator: string | undefined
  /** As the contract says; the zero address is one that was given up. Left out where there is none. */
  readonly owner: string | undefined
  readonly proxy: ContractProxy | undefined
  readonly findings: Findings
  readonly trial: TradeTrial | UntriedReason
}

export const ALL_OF_IT_PPM = 1_000_000

/**
 * The part of `sentRaw` that did not arrive, in millionths; a gift is no negative tax. To the nearest: tokens cut their
 * fees off, and cut off once more 7 % would be 6.9999 %. A hostile `balanceOf` can make either amount negative; the tax
 * is unknown then.
 */
export function taxPpm(sentRaw: bigint, arrivedRaw: bigint): number | undefined {
  if (sentRaw < 0n || arrivedRaw < 0n) return undefined
  if (arrivedRaw >= sentRaw) return 0
  return Number(((sentRaw - arrivedRaw) * BigInt(ALL_OF_IT_PPM) + sentRaw / 2n) / sentRaw)
}
