import type { ContractHoldings, RiskCode, RiskFactor, RiskScore } from './contract-report.ts'
import type { ContractFlag, HolderTransfers, Inspection, TradeTrial, TrialStep } from './inspection.ts'
import { ZERO_ADDRESS } from './known-addresses.ts'

/**
 * A changed formula needs a new version; docs/risk.md documents each version. Version 2 counts what only the mints of Solana
 * have, version 3 transfers by their holders too. An inspection without these keeps its version, whose result is the same,
 * so that a log folds to the same changes.
 */
export const RISK_VERSION = 1
export const MINT_RISK_VERSION = 2
export const HOLDERS_RISK_VERSION = 3

const MAX_POINTS = 100
const ONE_PERCENT_PPM = 10_000
/** A sell tax above this leaves nothing worth selling. */
const SALE_IS_LOST_PPM = 900_000
/** A lower tax may be rounding or the pool's own price impact. */
const MIN_TAX_PPM = 1_000
const MAX_TAX_POINTS = 50

/** Points for powers of the contract's owner; half if ownership is renounced for good. */
const POWERS: Readonly<Record<ContractFlag, readonly [RiskCode, number]>> = {
  mint: ['mint', 20],
  blacklist: ['blacklist', 15],
  pause: ['pause', 15],
  setFees: ['set_fees', 15],
  takeBackOwnership: ['take_back_ownership', 30],
  hiddenOwner: ['hidden_owner', 25],
  selfdestruct: ['selfdestruct', 30],
  callsOutInTransfer: ['calls_out_in_transfer', 10],
}
const PROXY_POINTS = 15
const METADATA_POINTS = 5
const UNMOVED_POINTS = 40
/** Some holders cannot transfer, but most can. */
const SOME_UNMOVED_POINTS = 15

/** The purchase works but the sale does not, or most holders cannot transfer; unknown if nothing could be bought. */
export function isHoneypot({ trial, holderTransfers }: Inspection): boolean | undefined {
  if (typeof trial === 'string' || !trial.buy.works) return undefined
  if (areMostStuck(holderTransfers)) return true
  if (trial.sell === undefined) return undefined
  return !trial.sell.works || (trial.sell.taxPpm ?? 0) > SALE_IS_LOST_PPM
}

/** The published formula; it uses only data that is in the report. */
export function scoreOf(inspection: Inspection, holdings: ContractHoldings): RiskScore {
  const factors = [
    ...tradeFactors(inspection),
    ...holderFactors(inspection),
    ...feeFactors(inspection),
    ...powerFactors(inspection),
    ...metadataFactors(inspection),
    ...holdingFactors(inspection, holdings),
  ].filter(({ points }) => points > 0)
  const total = factors.reduce((sum, { points }) => sum + points, 0)
  return { version: versionOf(inspection), points: Math.min(MAX_POINTS, total), factors }
}

function versionOf({ metadataPowers, transferFee, holderTransfers }: Inspection): number {
  if (holderTransfers !== undefined) return HOLDERS_RISK_VERSION
  return metadataPowers !== undefined || transferFee !== undefined ? MINT_RISK_VERSION : RISK_VERSION
}

function areMostStuck(transfers: HolderTransfers | undefined): boolean {
  return transfers !== undefined && transfers.failed * 2 > transfers.tried
}

function tradeFactors(inspection: Inspection): RiskFactor[] {
  const { trial } = inspection
  if (typeof trial === 'string') return [factor('trade_not_tried', 10, trial)]
  const { buy, transfer, sell } = trial
  const where = `pair ${trial.pair}, block ${inspection.block.hash}`
  const why = (step: TrialStep | undefined): string[] => (step?.reason === undefined ? [] : [step.reason])
  const honeypot =
    isHoneypot(inspection) === true ? [factor('honeypot', MAX_POINTS, where, ...why(sell))] : []
  const unbought = buy.works ? [] : [factor('cannot_be_bought', 40, where, ...why(buy))]
  const unmoved =
    transfer === undefined || transfer.works
      ? []
      : [factor('cannot_be_transferred', UNMOVED_POINTS, where, ...why(transfer))]
  return [...honeypot, ...unbought, ...unmoved, ...taxFactors(trial, where)]
}

/** Counts once: a transfer by the buyer that fails has the factor already. */
function holderFactors({ holderTransfers, trial, block }: Inspection): RiskFactor[] {
  const isCounted = typeof trial === 'object' && trial.transfer?.works === false
  if (holderTransfers === undefined || holderTransfers.failed === 0 || isCounted) return []
  const { tried, failed, failure } = holderTransfers
  const points = areMostStuck(holderTransfers) ? UNMOVED_POINTS : SOME_UNMOVED_POINTS
  const why = failure === undefined ? [] : [`account ${failure.account}`, failure.reason]
  const where = `${failed} of ${tried} holders cannot transfer, block ${block.hash}`
  return [factor('cannot_be_transferred', points, where, ...why)]
}

function taxFactors({ buy, sell, transfer }: TradeTrial, where: string): RiskFactor[] {
  const steps = [
    ['buy_tax', buy],
    ['sell_tax', sell],
    ['transfer_tax', transfer],
  ] as const
  return steps.flatMap(([code, step]) => taxFactor(code, step?.taxPpm, where))
}

function taxFactor(code: RiskCode, tax: number | undefined, where: string): RiskFactor[] {
  if (tax === undefined || tax < MIN_TAX_PPM) return []
  const points = Math.min(MAX_TAX_POINTS, Math.ceil(tax / ONE_PERCENT_PPM))
  return [factor(code, points, `${tax} millionths, ${where}`)]
}

/** The fee of a mint is a tax on purchases, sales and transfers alike. A simulated trade has measured it already. */
function feeFactors({ transferFee, trial, block }: Inspection): RiskFactor[] {
  if (transferFee === undefined || typeof trial !== 'string') return []
  const where = `at most ${transferFee.maxRaw} base units a transfer, block ${block.hash}`
  return (['buy_tax', 'sell_tax', 'transfer_tax'] as const).flatMap((code) =>
    taxFactor(code, transferFee.ppm, where),
  )
}

function metadataFactors({ metadataPowers = [] }: Inspection): RiskFactor[] {
  return metadataPowers.length === 0 ? [] : [factor('mutable_metadata', METADATA_POINTS, ...metadataPowers)]
}

function powerFactors({ findings, owner, proxy }: Inspection): RiskFactor[] {
  const isGivenUp = owner === ZERO_ADDRESS && findings.takeBackOwnership.length === 0
  // A minimal proxy always runs the same code; an upgradeable one can regain any power.
  const isFixed = proxy === undefined || proxy.kind === 'eip1167'
  const share = isGivenUp && isFixed ? 2 : 1
  const flags = Object.entries(POWERS) as [ContractFlag, readonly [RiskCode, number]][]
  const powers = flags.flatMap(([flag, [code, points]]) => {
    const evidence = findings[flag]
    return evidence.length === 0 ? [] : [factor(code, Math.floor(points / share), ...evidence)]
  })
  if (isFixed) return powers
  const seen = [proxy.kind, ...[proxy.implementation, proxy.admin].flatMap((each) => each ?? [])]
  return [...powers, factor('proxy', PROXY_POINTS, ...seen)]
}

function holdingFactors({ owner }: Inspection, holdings: ContractHoldings): RiskFactor[] {
  const { hasUnreliableBalances, creatorPpm, ownerPpm, largePpm, pool } = holdings
  const shared = (code: RiskCode, ppm: number | undefined, steps: readonly (readonly [number, number])[]) => {
    const points = steps.find(([atLeast]) => (ppm ?? 0) >= atLeast)?.[1] ?? 0
    return factor(code, points, `${ppm} millionths`)
  }
  const unlocked = pool === undefined ? undefined : 1_000_000 - pool.lockedPpm
  return [
    shared('creator_share', creatorPpm, [
      [200_000, 20],
      [50_000, 10],
    ]),
    // Equal shares mean creator and owner are the same wallet, which counts once.
    owner === undefined || owner === ZERO_ADDRESS || ownerPpm === creatorPpm
      ? factor('owner_share', 0)
      : shared('owner_share', ownerPpm, [
          [200_000, 20],
          [50_000, 10],
        ]),
    shared('large_holders', largePpm, [
      [500_000, 15],
      [250_000, 5],
    ]),
    factor(
      'liquidity_not_locked',
      unlocked === undefined ? 0 : unlocked > 500_000 ? 15 : unlocked > 50_000 ? 5 : 0,
      `${unlocked} millionths of the shares of ${pool?.pair}`,
    ),
    factor('odd_balances', hasUnreliableBalances ? 15 : 0, 'a balance that its transfers do not explain'),
  ]
}

function factor(code: RiskCode, points: number, ...evidence: string[]): RiskFactor {
  return { code, points, evidence }
}
