import type { Inspection } from './inspection.ts'

/**
 * A token's contract inspection, its holdings and its risk score. Shares are in millionths; undefined means unknown.
 */
export type ContractReport = {
  readonly token: string
  readonly inspection: Inspection
  /** Time of the block that carried the inspection. */
  readonly time: number
  readonly creator: string | undefined
  readonly holdings: ContractHoldings
  readonly score: RiskScore
}

/** Distribution of the token at the time of the inspection. */
export type ContractHoldings = {
  /** Unreliable balances: they change without transfers, or differ from the sum of the transfers. */
  readonly hasUnreliableBalances: boolean
  readonly creatorPpm: number | undefined
  readonly ownerPpm: number | undefined
  readonly lockedPpm: number | undefined
  /** Held by addresses with at least 2 % each, without pools, burn addresses and lockers. */
  readonly largePpm: number | undefined
  /** LP tokens of the main pool, if the pool issues any. */
  readonly pool: PoolHoldings | undefined
}

export type PoolHoldings = {
  readonly pair: string
  readonly holders: number
  readonly issuedRaw: bigint
  /** Burned or locked, so nobody can withdraw this part of the liquidity. */
  readonly lockedPpm: number
}

export type RiskScore = {
  readonly version: number
  /** 0 to 100; higher is riskier. */
  readonly points: number
  readonly factors: readonly RiskFactor[]
}

export type RiskFactor = {
  readonly code: RiskCode
  readonly points: number
  /** Where to verify the factor on chain. */
  readonly evidence: readonly string[]
}

export const RISK_CODES = [
  'honeypot',
  'cannot_be_bought',
  'cannot_be_transferred',
  'buy_tax',
  'sell_tax',
  'transfer_tax',
  'trade_not_tried',
  'mint',
  'blacklist',
  'pause',
  'set_fees',
  'take_back_ownership',
  'hidden_owner',
  'selfdestruct',
  'calls_out_in_transfer',
  'proxy',
  'creator_share',
  'owner_share',
  'large_holders',
  'liquidity_not_locked',
  'odd_balances',
  'mutable_metadata',
] as const
export type RiskCode = (typeof RISK_CODES)[number]
