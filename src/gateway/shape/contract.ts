import type { Token } from '../../domain/change.ts'
import type { ContractReport } from '../../domain/contract-report.ts'
import type { ContractFlag, TransferFee, TrialStep } from '../../domain/inspection.ts'
import { formatFixed } from '../../domain/money.ts'
import { isHoneypot } from '../../domain/risk-score.ts'
import { knownAmount, leaveOutUnknown } from './wire-values.ts'

const PPM_DIGITS = 6
const HIGH_RISK_POINTS = 60
const NOT_CHECKED = -1

/** How the interface calls what a contract can do. */
const FLAG_FIELDS = {
  has_mint_method: 'mint',
  has_black_method: 'blacklist',
  transfer_pausable: 'pause',
  slippage_modifiable: 'setFees',
  can_take_back_ownership: 'takeBackOwnership',
  hidden_owner: 'hiddenOwner',
  selfdestruct: 'selfdestruct',
  external_call: 'callsOutInTransfer',
} as const satisfies Record<string, ContractFlag>

/** A contract report. All its fields are ours: unknown ones are omitted. */
export function contractFields(report: ContractReport | undefined, isListed: boolean) {
  if (report === undefined) return { is_honeypot: NOT_CHECKED, ...(isListed ? { risk_level: 1 } : {}) }
  const { inspection, holdings, score } = report
  const trial = typeof inspection.trial === 'string' ? undefined : inspection.trial
  const { metadataPowers } = inspection
  const transferFee = trial === undefined ? inspection.transferFee : undefined
  return {
    ...leaveOutUnknown({
      owner: inspection.owner,
      creator_address: report.creator,
      creator_percent: knownPart(holdings.creatorPpm),
      owner_percent: knownPart(holdings.ownerPpm),
      token_lock_percent: knownPart(holdings.lockedPpm),
      pair_lock_percent: knownPart(holdings.pool?.lockedPpm),
      pair_holders: holdings.pool?.holders,
      ...trialFields('buy', trial?.buy, transferFee),
      ...trialFields('sell', trial?.sell, transferFee),
      ...trialFields('transfer', trial?.transfer, transferFee),
      metadata_mutable: metadataPowers === undefined ? undefined : flag(metadataPowers.length > 0),
    }),
    is_proxy: flag(inspection.proxy !== undefined),
    ...(Object.fromEntries(
      Object.entries(FLAG_FIELDS).map(([field, name]) => [field, flag(inspection.findings[name].length > 0)]),
    ) as Record<keyof typeof FLAG_FIELDS, number>),
    is_honeypot: honeypotOf(isHoneypot(inspection)),
    checked_at_block: inspection.block.number,
    checked_at: report.time,
    risk_level: isListed ? 1 : score.points >= HIGH_RISK_POINTS ? -1 : 0,
    risk_score: score.points,
    risk_version: score.version,
    risk_factors: score.factors.map(({ code, points, evidence }) => ({
      code,
      points,
      evidence: [...evidence],
    })),
  }
}

/** The mark of one of the ten largest holders, as far as it is known. */
export type HolderMark = 'pool' | 'creator' | 'owner' | 'burned' | ''

export type RankedHolder = {
  readonly holder: string
  readonly amountRaw: bigint
  readonly isContract: boolean | undefined
  readonly isPool: boolean
  readonly mark: HolderMark
}

export function holdersRank(
  holders: readonly RankedHolder[],
  { decimals, supplyRaw }: Pick<Token, 'decimals' | 'supplyRaw'>,
) {
  return holders.map(({ holder, amountRaw, isContract, isPool, mark }) =>
    leaveOutUnknown({
      address: holder,
      quantity: knownAmount(amountRaw, decimals),
      percent: supplyRaw === undefined || supplyRaw === 0n ? undefined : partText(amountRaw, supplyRaw),
      is_contract: isContract === undefined ? undefined : flag(isContract),
      is_lp: flag(isPool),
      mark,
    }),
  )
}

export function honeypotOf(known: boolean | undefined): number {
  return known === undefined ? NOT_CHECKED : flag(known)
}

/** A fee of the token program is a tax on every step. */
function trialFields<Name extends string>(
  name: Name,
  step: TrialStep | undefined,
  fee: TransferFee | undefined,
) {
  return {
    [`${name}_tax`]: knownPart(step?.taxPpm ?? fee?.ppm),
    [`${name}_gas`]: step?.gas,
  } as Record<`${Name}_tax`, string | undefined> & Record<`${Name}_gas`, number | undefined>
}

function knownPart(ppm: number | undefined): string | undefined {
  return ppm === undefined ? undefined : formatFixed(BigInt(ppm), PPM_DIGITS)
}

function partText(amountRaw: bigint, wholeRaw: bigint): string {
  return formatFixed((amountRaw * 10n ** 18n) / wholeRaw, 18)
}

function flag(isSet: boolean): number {
  return isSet ? 1 : 0
}
