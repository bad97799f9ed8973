import { ChaintapeError } from '../domain/errors.ts'
import {
  ALL_OF_IT_PPM,
  CONTRACT_FLAGS,
  type ContractFlag,
  type ContractProxy,
  type Findings,
  type HolderTransfers,
  type Inspection,
  MAX_FINDING_LENGTH,
  MAX_FINDINGS,
  PROXY_KINDS,
  TRIAL_METHODS,
  type TradeTrial,
  type TransferFee,
  type TrialStep,
  UNTRIED_REASONS,
} from '../domain/inspection.ts'
import { blockRefCodec } from './block-ref-codec.ts'
import {
  biguint,
  bool,
  type Codec,
  checked,
  id,
  list,
  optional,
  record,
  text,
  varuint,
  word,
} from './codec.ts'

// Both sides enforce the limits: an inspection is stored in the log, and a token must not control its size.
const shortText = checked(text, ({ length }) => length <= MAX_FINDING_LENGTH, 'a finding is too long')
const evidence = checked(list(shortText), ({ length }) => length <= MAX_FINDINGS, 'too many findings')
const tax = checked(varuint, (ppm) => ppm <= ALL_OF_IT_PPM, 'a tax exceeds the amount')

const findings = record<Findings>(
  Object.fromEntries(CONTRACT_FLAGS.map((flag) => [flag, evidence])) as Record<ContractFlag, typeof evidence>,
)

const proxy = record<ContractProxy>({
  kind: word(PROXY_KINDS),
  implementation: optional(id),
  implementationCodeHash: optional(id),
  admin: optional(id),
})

const step = record<TrialStep>({
  works: bool,
  taxPpm: optional(tax),
  gas: optional(varuint),
  reason: optional(shortText),
})

const trial = record<TradeTrial>({
  pair: id,
  method: word(TRIAL_METHODS),
  buy: step,
  transfer: optional(step),
  sell: optional(step),
})

const untried = word(UNTRIED_REASONS)

type TrialPart = Pick<Inspection, 'trial' | 'metadataPowers' | 'transferFee' | 'holderTransfers'>
type MintPart = { [Name in 'metadataPowers' | 'transferFee']: Inspection[Name] | undefined }

const mintPart = record<MintPart>({
  metadataPowers: optional(evidence),
  transferFee: optional(record<TransferFee>({ ppm: tax, maxRaw: biguint })),
})

const NO_MINT_PART: MintPart = { metadataPowers: undefined, transferFee: undefined }

const holderTransfers = record<HolderTransfers>({
  tried: varuint,
  failed: varuint,
  failure: optional(record({ account: id, reason: shortText })),
})

/** Bits of the byte before the trial. Records of the first version have the first bit only, of the second the first two. */
const FORM = { tried: 1, mint: 2, holders: 4 } as const
const MAX_FORM = FORM.tried + FORM.mint + FORM.holders

const trialPart: Codec<TrialPart> = {
  write: (w, { trial: value, metadataPowers, transferFee, holderTransfers: transfers }) => {
    const isMint = metadataPowers !== undefined || transferFee !== undefined
    const isTried = typeof value === 'object'
    w.u8((isTried ? FORM.tried : 0) + (isMint ? FORM.mint : 0) + (transfers ? FORM.holders : 0))
    if (isTried) trial.write(w, value)
    else untried.write(w, value)
    if (isMint) mintPart.write(w, { metadataPowers, transferFee })
    if (transfers) holderTransfers.write(w, transfers)
  },
  read: (r) => {
    const form = r.u8()
    if (form > MAX_FORM) throw new ChaintapeError('message_unreadable', `unknown form ${form}`)
    const value = form & FORM.tried ? trial.read(r) : untried.read(r)
    const { metadataPowers, transferFee } = form & FORM.mint ? mintPart.read(r) : NO_MINT_PART
    const transfers = form & FORM.holders ? holderTransfers.read(r) : undefined
    return {
      trial: value,
      ...(metadataPowers !== undefined && { metadataPowers }),
      ...(transferFee !== undefined && { transferFee }),
      ...(transfers !== undefined && { holderTransfers: transfers }),
    }
  },
}

const contractPart = record<Omit<Inspection, keyof TrialPart>>({
  token: id,
  block: blockRefCodec,
  codeHash: id,
  creator: optional(id),
  owner: optional(id),
  proxy: optional(proxy),
  findings,
})

export const inspectionCodec: Codec<Inspection> = {
  write: (w, inspection) => {
    contractPart.write(w, inspection)
    trialPart.write(w, inspection)
  },
  read: (r) => ({ ...contractPart.read(r), ...trialPart.read(r) }),
}
