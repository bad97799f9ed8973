import type {
  ContractHoldings,
  ContractReport,
  PoolHoldings,
  RiskScore,
} from '../../../../../../src/domain/contract-report.ts'
import type { BlockEnvelope, InspectionFact } from '../../../../../../src/domain/envelope.ts'
import { partPpm } from '../../../../../../src/domain/part.ts'
import { isHoneypot, scoreOf } from '../../../../../../src/domain/risk-score.ts'
import type { BlockRecords } from '../block-records.ts'
import { balanceKey, isTellable } from '../holders/tables.ts'
import type { EngineTables, TokenState } from '../tables.ts'

/**
 * Adds to what was found out about contracts who holds their tokens, and what all of it comes to. The score follows every
 * change of who holds what, of the supply and of the main pair; only what the contract can do stays as it was examined.
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

  /** After the main pairs of the block are known; `holdings` are the tokens and pools of which holders changed. */
  run(holdings: ReadonlySet<string>): ContractReport[] {
    const reports = new Map<string, ContractReport>()
    for (const fact of this.#block.facts) {
      const state = fact.type === 'inspection' ? this.#tables.tokens.get(fact.address) : undefined
      if (fact.type !== 'inspection' || state === undefined) continue
      reports.set(fact.address, this.#report(fact, state))
    }
    for (const address of this.#affectedBy(holdings)) {
      const report = reports.has(address) ? undefined : this.#rescored(address)
      if (report !== undefined) reports.set(address, report)
    }
    return [...reports.values()]
  }

  /** Tokens that something happened to which their score may be made of. */
  #affectedBy(holdings: ReadonlySet<string>): Set<string> {
    const affected = new Set([...this.#records.touchedTokens, ...holdings])
    for (const address of holdings) {
      const pair = this.#tables.pairs.get(address)
      for (const side of pair === undefined ? [] : [pair.token0, pair.token1]) affected.add(side.token)
    }
    return affected
  }

  /** The report with another score, if who holds what makes it another one. */
  #rescored(address: string): ContractReport | undefined {
    const state = this.#tables.tokens.get(address)
    const known = state?.token.risk === undefined ? undefined : this.#tables.contracts.get(address)
    if (state === undefined || known === undefined) return undefined
    const { inspection } = known
    const holdings = this.#holdings(state, inspection.owner)
    const score = scoreOf(inspection, holdings)
    const creator = state.token.origin?.creator
    if (isSameScore(score, known.score) && creator === known.creator) return undefined
    return this.#put({ ...known, creator, holdings, score }, state)
  }

  #report({ address, inspection }: InspectionFact, state: TokenState): ContractReport {
    const holdings = this.#holdings(state, inspection.owner)
    const score = scoreOf(inspection, holdings)
    const creator = state.token.origin?.creator
    return this.#put({ token: address, inspection, time: this.#block.time, creator, holdings, score }, state)
  }

  #put(report: ContractReport, state: TokenState): ContractReport {
    const { inspection, score } = report
    this.#tables.contracts.put(report.token, report)
    const isMintable = inspection.findings.mint.length > 0
    const risk = { score: score.points, isHoneypot: isHoneypot(inspection), isMintable }
    this.#records.putToken({ ...state, token: { ...state.token, risk } })
    return report
  }

  #holdings({ token }: TokenState, owner: string | undefined): ContractHoldings {
    const holding = this.#tables.holdings.get(token.address)
    const pool = token.mainPair === undefined ? undefined : this.#poolHoldings(token.mainPair)
    const hasUnreliableBalances =
      holding?.hasUnreliableBalances === true || (holding?.isRead === true && holding.overdrawn > 0)
    const { supplyRaw } = token
    if (holding === undefined || !isTellable(holding) || supplyRaw === undefined || supplyRaw === 0n) {
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
      return partPpm(this.#tables.balances.get(balanceKey(token.address, address)) ?? 0n, supplyRaw)
    }
    // What pools hold is for sale, and no one's to sell.
    const large = holding.large.filter(({ holder }) => this.#tables.pools.get(holder) === undefined)
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
    if (shares === undefined || !isTellable(shares) || shares.issuedRaw <= 0n) return undefined
    return {
      pair,
      holders: shares.holders,
      issuedRaw: shares.issuedRaw,
      lockedPpm: partPpm(shares.deadRaw + shares.lockedRaw, shares.issuedRaw),
    }
  }
}

/** By what each factor counts for: its evidence names shares, which move with every transfer. */
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
