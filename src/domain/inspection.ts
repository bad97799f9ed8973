/** Capabilities of a token's code that are a risk to its holders. */
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

/** Evidence per flag. A flag without evidence is not set. */
export type Findings = Readonly<Record<ContractFlag, readonly string[]>>

export function findingsBy(evidenceOf: (flag: ContractFlag) => readonly string[]): Findings {
  const entries = CONTRACT_FLAGS.map((flag) => [flag, evidenceOf(flag)] as const)
  return Object.fromEntries(entries) as unknown as Findings
}

/** Bounds on the retained findings, because a hostile contract can produce any number of any length. */
export const MAX_FINDINGS = 8
export const MAX_FINDING_LENGTH = 120

export const PROXY_KINDS = ['eip1167', 'eip1967', 'eip1822', 'beacon', 'zeppelin', 'unknown'] as const
export type ProxyKind = (typeof PROXY_KINDS)[number]

/** A contract that delegates to the code of another one. */
export type ContractProxy = {
  readonly kind: ProxyKind
  /** Undefined if the kind of delegation is unknown. */
  readonly implementation: string | undefined
  readonly implementationCodeHash: string | undefined
  /** The address that can change the implementation, if a standard slot holds it; for a beacon proxy, the beacon. */
  readonly admin: string | undefined
}

/** `simulate`: separate transactions from wallets, in successive blocks. `call`: one `eth_call`, from contracts. */
export const TRIAL_METHODS = ['simulate', 'call'] as const
export type TrialMethod = (typeof TRIAL_METHODS)[number]

export type TrialStep = {
  readonly works: boolean
  /** The missing part of the transferred amount in millionths; undefined if nothing was moved. */
  readonly taxPpm: number | undefined
  /** Gas of the whole transaction; undefined if the step was not a transaction. */
  readonly gas: number | undefined
  /** Why the step failed: the revert reason, if there is one. */
  readonly reason: string | undefined
}

/** A simulated purchase, transfer to another address and sale in one pool. */
export type TradeTrial = {
  readonly pair: string
  readonly method: TrialMethod
  readonly buy: TrialStep
  /** Undefined if the purchase left nothing to transfer, or on a bonding curve. */
  readonly transfer: TrialStep | undefined
  /** Undefined if there was nothing to sell, or if the pool's own code and not the token prevented the sale. */
  readonly sell: TrialStep | undefined
}

/**
 * Why no trade was simulated: no pair that lets anybody buy, no code at the address, (nearly) empty pools, a quote token
 * that cannot be funded by a state override, or a node that refuses the call.
 */
export const UNTRIED_REASONS = ['no_pair', 'no_contract', 'no_liquidity', 'no_funds', 'refused'] as const
export type UntriedReason = (typeof UNTRIED_REASONS)[number]

/** A contract inspection in the state after a block. Every node with that block returns the same result; on Solana the state may be newer. */
export type Inspection = {
  readonly token: string
  readonly block: { readonly number: number; readonly hash: string }
  /** Keccak-256 of the code; on Solana the id of the token program, whose code all its mints share. */
  readonly codeHash: string
  readonly creator: string | undefined
  /** As returned by the contract; the zero address means renounced, undefined means the contract has no owner. */
  readonly owner: string | undefined
  readonly proxy: ContractProxy | undefined
  readonly findings: Findings
  readonly trial: TradeTrial | UntriedReason
  /** Evidence of who can change name and symbol: empty if nobody can; absent if unknown, as on EVM. */
  readonly metadataPowers?: readonly string[]
  /** Absent if the token has none, or if it is unknown. */
  readonly transferFee?: TransferFee
  /** Absent if none was simulated, as on EVM. */
  readonly holderTransfers?: HolderTransfers
}

/**
 * Simulated transfers by current holders to a new account: no trade, but a holder who cannot transfer a token cannot sell it
 * either.
 */
export type HolderTransfers = {
  readonly tried: number
  readonly failed: number
  /** The first that failed. */
  readonly failure: { readonly account: string; readonly reason: string } | undefined
}

/** A fee that a token program withholds from every transfer, purchases and sales included. */
export type TransferFee = {
  readonly ppm: number
  /** The most that one transfer costs, in base units. */
  readonly maxRaw: bigint
}

export const ALL_OF_IT_PPM = 1_000_000

/**
 * The missing part of `sentRaw` in millionths; a surplus counts as zero tax. Rounded to nearest, because tokens
 * truncate their own fees: truncating again would turn 7 % into 6.9999 %. A hostile `balanceOf` can make either amount
 * negative; the tax is then unknown.
 */
export function taxPpm(sentRaw: bigint, arrivedRaw: bigint): number | undefined {
  if (sentRaw < 0n || arrivedRaw < 0n) return undefined
  if (arrivedRaw >= sentRaw) return 0
  return Number(((sentRaw - arrivedRaw) * BigInt(ALL_OF_IT_PPM) + sentRaw / 2n) / sentRaw)
}
