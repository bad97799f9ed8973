import {
  ALL_OF_IT_PPM,
  CONTRACT_FLAGS,
  type ContractFlag,
  type ContractProxy,
  type Findings,
  type Inspection,
  MAX_FINDING_LENGTH,
  MAX_FINDINGS,
  PROXY_KINDS,
  TRIAL_METHODS,
  type TradeTrial,
  type TrialStep,
  UNTRIED_REASONS,
} from '../domain/inspection.ts'
import { blockRefCodec } from './block-ref-codec.ts'
import { bool, type Codec, checked, id, list, optional, record, text, varuint, word } from './codec.ts'

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

const trialOrReason: Codec<Inspection['trial']> = {
  write: (w, value) => {
    w.bool(typeof value === 'object')
    if (typeof value === 'object') trial.write(w, value)
    else untried.write(w, value)
  },
  read: (r) => (r.bool() ? trial.read(r) : untried.read(r)),
}

export const inspectionCodec = record<Inspection>({
  token: id,
  block: blockRefCodec,
  codeHash: id,
  creator: optional(id),
  owner: optional(id),
  proxy: optional(proxy),
  findings,
  trial: trialOrReason,
})
