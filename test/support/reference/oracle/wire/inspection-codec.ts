import { ChaintapeError } from '../../../../../src/domain/errors.ts'
import {
  ALL_OF_IT_PPM,
  CONTRACT_FLAGS,
  type ContractProxy,
  findingsBy,
  type Inspection,
  MAX_FINDING_LENGTH,
  MAX_FINDINGS,
  PROXY_KINDS,
  TRIAL_METHODS,
  type TradeTrial,
  type TrialStep,
  UNTRIED_REASONS,
} from '../../../../../src/domain/inspection.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readWord } from './field-codec.ts'

export function writeInspection(w: ByteWriter, inspection: Inspection): void {
  w.id(inspection.token)
  w.varuint(inspection.block.number)
  w.id(inspection.block.hash)
  w.id(inspection.codeHash)
  writeId(w, inspection.creator)
  writeId(w, inspection.owner)
  w.optional(inspection.proxy, (proxy) => writeProxy(w, proxy))
  for (const flag of CONTRACT_FLAGS) writeEvidence(w, inspection.findings[flag])
  const { trial } = inspection
  w.bool(typeof trial === 'object')
  if (typeof trial === 'object') writeTrial(w, trial)
  else w.u8(UNTRIED_REASONS.indexOf(trial))
}

export function readInspection(r: ByteReader): Inspection {
  return {
    token: r.id(),
    block: { number: r.varuint(), hash: r.id() },
    codeHash: r.id(),
    creator: readId(r),
    owner: readId(r),
    proxy: r.optional(() => readProxy(r)),
    findings: findingsBy(() => readEvidence(r)),
    trial: r.bool() ? readTrial(r) : readWord(r, UNTRIED_REASONS),
  }
}

function writeProxy(w: ByteWriter, proxy: ContractProxy): void {
  w.u8(PROXY_KINDS.indexOf(proxy.kind))
  writeId(w, proxy.implementation)
  writeId(w, proxy.implementationCodeHash)
  writeId(w, proxy.admin)
}

function readProxy(r: ByteReader): ContractProxy {
  return {
    kind: readWord(r, PROXY_KINDS),
    implementation: readId(r),
    implementationCodeHash: readId(r),
    admin: readId(r),
  }
}

/** The limits hold on both sides: an inspection travels in the log, where a token must not decide how much it takes. */
function writeEvidence(w: ByteWriter, evidence: readonly string[]): void {
  if (evidence.length > MAX_FINDINGS) throw new RangeError('too many findings')
  w.list(evidence, (text) => writeShortText(w, text))
}

function readEvidence(r: ByteReader): string[] {
  const evidence = r.list(() => readShortText(r))
  if (evidence.length > MAX_FINDINGS) throw new ChaintapeError('message_unreadable', 'too many findings')
  return evidence
}

function writeShortText(w: ByteWriter, text: string): void {
  if (text.length > MAX_FINDING_LENGTH) throw new RangeError('a finding is too long')
  w.text(text)
}

function readShortText(r: ByteReader): string {
  const text = r.text()
  if (text.length > MAX_FINDING_LENGTH)
    throw new ChaintapeError('message_unreadable', 'a finding is too long')
  return text
}

function writeTrial(w: ByteWriter, trial: TradeTrial): void {
  w.id(trial.pair)
  w.u8(TRIAL_METHODS.indexOf(trial.method))
  writeStep(w, trial.buy)
  w.optional(trial.transfer, (step) => writeStep(w, step))
  w.optional(trial.sell, (step) => writeStep(w, step))
}

function readTrial(r: ByteReader): TradeTrial {
  return {
    pair: r.id(),
    method: readWord(r, TRIAL_METHODS),
    buy: readStep(r),
    transfer: r.optional(() => readStep(r)),
    sell: r.optional(() => readStep(r)),
  }
}

function writeStep(w: ByteWriter, step: TrialStep): void {
  w.bool(step.works)
  w.optional(step.taxPpm, (ppm) => {
    if (ppm > ALL_OF_IT_PPM) throw new RangeError('a tax exceeds the amount')
    w.varuint(ppm)
  })
  w.optional(step.gas, (gas) => w.varuint(gas))
  w.optional(step.reason, (reason) => writeShortText(w, reason))
}

function readStep(r: ByteReader): TrialStep {
  return {
    works: r.bool(),
    taxPpm: r.optional(() => readTax(r)),
    gas: r.optional(() => r.varuint()),
    reason: r.optional(() => readShortText(r)),
  }
}

function readTax(r: ByteReader): number {
  const ppm = r.varuint()
  if (ppm > ALL_OF_IT_PPM) throw new ChaintapeError('message_unreadable', 'a tax exceeds the amount')
  return ppm
}

function writeId(w: ByteWriter, id: string | undefined): void {
  w.optional(id, (known) => w.id(known))
}

function readId(r: ByteReader): string | undefined {
  return r.optional(() => r.id())
}
