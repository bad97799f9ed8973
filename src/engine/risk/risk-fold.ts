import type {
  ContractHoldings,
  ContractReport,
  PoolHoldings,
  RiskScore,
} from '../../domain/contract-report.ts'
import type { BlockEnvelope, InspectionFact } from '../../domain/envelope.ts'
import { partPpm } from '../../domain/part.ts'
import { isHoneypot, scoreOf } from '../../domain/risk-score.ts'
import type { BlockRecords } from '../block-records.ts'
import { isPublishable } from '../holders/tables.ts'
import type { EngineTables } from '../tables.ts'
import type { TokenView } from '../token/token-view.ts'

/**
 * Joins contract inspections with holders, and computes the score. The score follows every change of balances, supply
 * and main pair; the inspection itself is valid for one block.
 */
export class RiskFold {
  readonly #tables: EngineTables
  readonly #records: BlockRecords
  readonly #block: BlockEnvelope

  constructor(tables: EngineTables, records: BlockRecords, block: BlockEnvelope) {
    this.#tables = tables
    this.#records = records
    this.#block = block
  }

  /** Call once the block's main pairs are known; `holdings` are the tokens and pools whose holders changed. */
  run(holdings: ReadonlySet<string>): ContractReport[] {
    const reports = new Map<string, ContractReport>()
    for (const fact of this.#block.facts) {
      const token = fact.type === 'inspection' ? this.#records.tokenIfKnown(fact.address) : undefined
      if (fact.type !== 'inspection' || token === undefined) continue
      reports.set(fact.address, this.#report(fact, token))
    }
    for (const address of this.#affectedBy(holdings)) {
      const report = reports.has(address) ? undefined : this.#rescored(address)
      if (report !== undefined) reports.set(address, report)
    }
    return [...reports.values()]
  }

  /** Tokens whose score may have changed. */
  #affectedBy(holdings: ReadonlySet<string>): Set<string> {
    const affected = new Set<string>()
    for (const token of this.#records.touchedTokens) if (token.row.hasRiskScore) affected.add(token.address)
    for (const address of holdings) affected.add(address)
    for (const address of holdings) {
      // Most of them are tokens; looking up a pair for each would cache a row that records its absence.
      const pair = this.#tables.pools.has(address) ? this.#tables.pairs.get(address) : undefined
      if (pair === undefined) continue
      affected.add(pair.token0.token)
      affected.add(pair.token1.token)
    }
    return affected
  }

  /** The report with its new score, if holders change it. */
  #rescored(address: string): ContractReport | undefined {
    const token = this.#records.tokenIfKnown(address)
    const known = token?.risk === undefined ? undefined : this.#tables.contracts.get(address)
    if (token === undefined || known === undefined) return undefined
    const { inspection } = known
    const holdings = this.#holdings(token, inspection.owner)
    const score = scoreOf(inspection, holdings)
    const creator = token.origin?.creator
    if (isSameScore(score, known.score) && creator === known.creator) return undefined
    return this.#put({ ...known, creator, holdings, score }, token)
  }

  #report({ address, inspection }: InspectionFact, token: TokenView): ContractReport {
    const holdings = this.#holdings(token, inspection.owner)
    const score = scoreOf(inspection, holdings)
    const creator = token.origin?.creator
    return this.#put({ token: address, inspection, time: this.#block.time, creator, holdings, score }, token)
  }

  #put(report: ContractReport, token: TokenView): ContractReport {
    const { inspection, score } = report
    this.#tables.contracts.put(report.token, report)
    const isMintable = inspection.findings.mint.length > 0
    this.#records.editToken(token)
    token.risk = { score: score.points, isHoneypot: isHoneypot(inspection), isMintable }
    return report
  }

  #holdings(token: TokenView, owner: string | undefined): ContractHoldings {
    const holding = this.#tables.holdings.get(token.address)
    const pool = token.mainPair === undefined ? undefined : this.#poolHoldings(token.mainPair)
    const hasUnreliableBalances =
      holding?.hasUnreliableBalances === true || (holding?.isRead === true && holding.overdrawn > 0)
    const { supplyRaw } = token
    if (holding === undefined || !isPublishable(holding) || supplyRaw === undefined || supplyRaw === 0n) {
      return {
        hasUnreliableBalances,
        creatorPpm: undefined,
        ownerPpm: undefined,
        lockedPpm: undefined,
        largePpm: undefined,
        pool,
      }
    }
    const shareOf = (address: string | undefined): number | undefined => {
      if (address === undefined) return undefined
      return partPpm(this.#tables.balances.get(token.address, address), supplyRaw)
    }
    // The pool's own holdings do not count: nobody can sell them.
    const large = holding.large.filter(({ holder }) => !this.#tables.pools.has(holder))
    return {
      hasUnreliableBalances,
      creatorPpm: shareOf(token.origin?.creator),
      ownerPpm: shareOf(owner),
      lockedPpm: partPpm(holding.deadRaw + holding.lockedRaw, supplyRaw),
      largePpm: partPpm(
        large.reduce((sum, { amountRaw }) => sum + amountRaw, 0n),
        supplyRaw,
      ),
      pool,
    }
  }

  #poolHoldings(pair: string): PoolHoldings | undefined {
    const shares = this.#tables.holdings.get(pair)
    if (shares === undefined || !isPublishable(shares) || shares.issuedRaw <= 0n) return undefined
    return {
      pair,
      holders: shares.holders,
      issuedRaw: shares.issuedRaw,
      lockedPpm: partPpm(shares.deadRaw + shares.lockedRaw, shares.issuedRaw),
    }
  }
}

/** Compares only what each factor counts for: its evidence contains shares, which change with every transfer. */
function isSameScore(a: RiskScore, b: RiskScore): boolean {
  const isSame = a.points === b.points && a.factors.length === b.factors.length
  return (
    isSame &&
    a.factors.every(({ code, points }, at) => {
      const other = b.factors[at]
      return code === other?.code && points === other.points
    })
  )
}
