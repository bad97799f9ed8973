import {
  type ContractHoldings,
  type ContractReport,
  type PoolHoldings,
  RISK_CODES,
  type RiskFactor,
  type RiskScore,
} from '../domain/contract-report.ts'
import { biguint, bool, byte, id, list, optional, record, recurringId, text, varuint, word } from './codec.ts'
import { inspectionCodec } from './inspection-codec.ts'

const poolHoldings = record<PoolHoldings>({
  pair: id,
  holders: varuint,
  issuedRaw: biguint,
  lockedPpm: varuint,
})

const holdings = record<ContractHoldings>({
  hasUnreliableBalances: bool,
  creatorPpm: optional(varuint),
  ownerPpm: optional(varuint),
  lockedPpm: optional(varuint),
  largePpm: optional(varuint),
  pool: optional(poolHoldings),
})

const factor = record<RiskFactor>({ code: word(RISK_CODES), points: byte, evidence: list(text) })

const score = record<RiskScore>({ version: varuint, points: byte, factors: list(factor) })

export const reportCodec = record<ContractReport>({
  token: recurringId,
  inspection: inspectionCodec,
  time: varuint,
  creator: optional(id),
  holdings,
  score,
})
