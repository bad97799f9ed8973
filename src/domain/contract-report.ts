import type { Inspection } from './inspection.ts'

/** What is known of a token's contract, and what that comes to. Shares are in millionths; what is unknown is left out. */
export type ContractReport = {
  readonly token: string
  readonly inspection: Inspection
  /** Time of the block that told it. */
  readonly time: number
  readonly creator: string | undefined
  readonly holdings: ContractHoldings
  readonly score: RiskScore
}

/** Who held what when the contract was examined. */
export type ContractHoldings = {
  /** Balances move without transfers, or transfers do not tell all. */
  readonly isOdd: boolean
  readonly creatorPpm: number | undefined
  readonly ownerPpm: number | undefined
  readonly lockedPpm: number | undefined
  /** Of those who hold at least a fiftieth each, pools and burned or locked parts aside. */
  readonly largePpm: number | undefined
  /** Of the shares of its main pool, where a pool has shares that can be held. */
  readonly pool: PoolHoldings | undefined
}

export type PoolHoldings = {
  readonly pair: string
  readonly holders: number
  readonly issuedRaw: bigint
  /** Burned or locked: nobody can take this part of the liquidity away. */
  readonly lockedPpm: number
}

export type RiskScore = {
  readonly version: number
  /** From 0 to 100: higher is riskier. */
  readonly points: number
  readonly factors: readonly RiskFactor[]
}

export type RiskFactor = {
  readonly code: RiskCode
  readonly points: number
  /** Where on the chain it can be seen. */
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
] as const
export type RiskCode = (typeof RISK_CODES)[number]
