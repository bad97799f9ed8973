import fc from 'fast-check'
import { type ContractReport, RISK_CODES } from '../../../src/domain/contract-report.ts'
import {
  ALL_OF_IT_PPM,
  CONTRACT_FLAGS,
  findingsBy,
  type HolderTransfers,
  type Inspection,
  MAX_FINDING_LENGTH,
  MAX_FINDINGS,
  PROXY_KINDS,
  TRIAL_METHODS,
  type TransferFee,
  type TrialStep,
  UNTRIED_REASONS,
} from '../../../src/domain/inspection.ts'
import { plain } from './value-arbitraries.ts'

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((raw) => `0x${Buffer.from(raw).toString('hex')}`)
const address = hex(20)
const hash = hex(32)
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })
const ppm = fc.nat(ALL_OF_IT_PPM)
const count = fc.maxSafeNat()
const evidence = fc.array(fc.string({ maxLength: MAX_FINDING_LENGTH }), { maxLength: MAX_FINDINGS })
const step = plain<TrialStep>({
  works: fc.boolean(),
  taxPpm: maybe(ppm),
  gas: maybe(count),
  reason: maybe(fc.string({ maxLength: MAX_FINDING_LENGTH })),
})

const contractInspection = plain<Omit<Inspection, 'metadataPowers' | 'transferFee' | 'holderTransfers'>>({
  token: address,
  block: plain<Inspection['block']>({ number: count, hash }),
  codeHash: hash,
  creator: maybe(address),
  owner: maybe(address),
  proxy: maybe(
    plain<NonNullable<Inspection['proxy']>>({
      kind: fc.constantFrom(...PROXY_KINDS),
      implementation: maybe(address),
      implementationCodeHash: maybe(hash),
      admin: maybe(address),
    }),
  ),
  findings: fc
    .tuple(...CONTRACT_FLAGS.map(() => evidence))
    .map((lists) => findingsBy((flag) => lists[CONTRACT_FLAGS.indexOf(flag)] ?? [])),
  trial: fc.oneof<fc.Arbitrary<Inspection['trial']>[]>(
    fc.constantFrom(...UNTRIED_REASONS),
    plain<Exclude<Inspection['trial'], string>>({
      pair: address,
      method: fc.constantFrom(...TRIAL_METHODS),
      buy: step,
      transfer: maybe(step),
      sell: maybe(step),
    }),
  ),
})

const transferFee = plain<TransferFee>({ ppm, maxRaw: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) })
const holderTransfers = plain<HolderTransfers>({
  tried: count,
  failed: count,
  failure: maybe(
    plain<NonNullable<HolderTransfers['failure']>>({
      account: address,
      reason: fc.string({ maxLength: MAX_FINDING_LENGTH }),
    }),
  ),
})

export const inspection: fc.Arbitrary<Inspection> = fc
  .tuple(contractInspection, maybe(evidence), maybe(transferFee), maybe(holderTransfers))
  .map(([contract, metadataPowers, fee, transfers]) => ({
    ...contract,
    ...(metadataPowers !== undefined && { metadataPowers }),
    ...(fee !== undefined && { transferFee: fee }),
    ...(transfers !== undefined && { holderTransfers: transfers }),
  }))

export const report: fc.Arbitrary<ContractReport> = plain<ContractReport>({
  token: address,
  inspection,
  time: count,
  creator: maybe(address),
  holdings: plain<ContractReport['holdings']>({
    hasUnreliableBalances: fc.boolean(),
    creatorPpm: maybe(ppm),
    ownerPpm: maybe(ppm),
    lockedPpm: maybe(ppm),
    largePpm: maybe(ppm),
    pool: maybe(
      plain<NonNullable<ContractReport['holdings']['pool']>>({
        pair: address,
        holders: count,
        issuedRaw: fc.bigInt({ min: 0n, max: 2n ** 255n }),
        lockedPpm: ppm,
      }),
    ),
  }),
  score: plain<ContractReport['score']>({
    version: fc.nat(9),
    points: fc.nat(100),
    factors: fc.array(
      plain<ContractReport['score']['factors'][number]>({
        code: fc.constantFrom(...RISK_CODES),
        points: fc.nat(100),
        evidence,
      }),
      { maxLength: 4 },
    ),
  }),
})
