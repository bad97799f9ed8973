import { MAX_FINDING_LENGTH } from '../../../domain/inspection.ts'
import { cleanText } from '../../../domain/token-text.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import { asIndex, asRecord, invalid, type NodeAccount, toAccount } from '../rpc-answer.ts'

/** How a node says that a simulated transaction ended. */
export type Simulation = {
  readonly slot: number
  readonly failure: SimulationFailure | undefined
  readonly units: number | undefined
  /** The requested accounts after it, undefined for those that do not exist; empty if the transaction failed. */
  readonly accounts: readonly (NodeAccount | undefined)[]
}

export type SimulationFailure = {
  /** The instruction that failed; undefined if the transaction could not run at all. */
  readonly instruction: number | undefined
  /** The program's own error code. */
  readonly code: number | undefined
  readonly reason: string
}

/** The token programs and Anchor mark their errors; other programs log any text. */
const ERROR = /^Program log: (?:Error: |AnchorError .*Error Message: )(.+)$/
const TEXT = /^Program log: (?!Instruction: )(.+)$/

/** Reads the answer to `simulateTransaction`. Everything in it is untrusted. */
export function toSimulation(answer: unknown, accounts: number, minSlot?: number): Simulation {
  const { context, value } = asRecord(answer, 'simulateTransaction')
  const slot = asIndex(asRecord(context, 'context')['slot'], 'context slot')
  if (slot < (minSlot ?? 0)) throw new RpcFailure('failed', `simulateTransaction: state of slot ${slot}`)
  const result = asRecord(value, 'simulateTransaction')
  const { err, unitsConsumed } = result
  const units = unitsConsumed === undefined ? undefined : asIndex(unitsConsumed, 'unitsConsumed')
  // An answer without the field says nothing.
  if (err === undefined) throw invalid('simulateTransaction: neither success nor failure')
  if (err !== null) return { slot, units, failure: toFailure(err, result['logs']), accounts: [] }
  const after = result['accounts']
  if (!Array.isArray(after) || after.length !== accounts)
    throw invalid('simulateTransaction: not that many accounts')
  return {
    slot,
    units,
    failure: undefined,
    accounts: after.map((each) => (each === null ? undefined : toAccount(each))),
  }
}

function toFailure(err: unknown, logs: unknown): SimulationFailure {
  const [instruction, detail]: unknown[] = instructionError(err)
  if (typeof instruction !== 'number' || !Number.isSafeInteger(instruction) || instruction < 0)
    return { instruction: undefined, code: undefined, reason: nameOf(err) }
  const custom =
    typeof detail === 'object' && detail !== null && 'Custom' in detail ? detail.Custom : undefined
  const code = typeof custom === 'number' && Number.isSafeInteger(custom) ? custom : undefined
  const logged = Array.isArray(logs) ? loggedReason(logs) : ''
  const plain = code === undefined ? nameOf(detail) : `error ${code}`
  return { instruction, code, reason: (logged || plain).slice(0, MAX_FINDING_LENGTH) }
}

function instructionError(err: unknown): unknown[] {
  const inner =
    typeof err === 'object' && err !== null && 'InstructionError' in err ? err.InstructionError : []
  return Array.isArray(inner) ? inner : []
}

/** The last one is of the instruction that failed. */
function loggedReason(logs: readonly unknown[]): string {
  const lines = logs.filter((line) => typeof line === 'string')
  const reasonBy = (form: RegExp) => lines.flatMap((line) => form.exec(line)?.[1] ?? []).at(-1)
  return cleanText(reasonBy(ERROR) ?? reasonBy(TEXT) ?? '')
}

function nameOf(err: unknown): string {
  if (typeof err === 'string') return cleanText(err) || 'failed'
  const [name] = typeof err === 'object' && err !== null ? Object.keys(err) : []
  return cleanText(name ?? '') || 'failed'
}
