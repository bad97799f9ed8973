import {
  CONTRACT_FLAGS,
  type ContractFlag,
  type Findings,
  findingsBy,
  MAX_FINDINGS,
} from '../../../domain/inspection.ts'
import { dispatched, OP, present, readInstructions } from './bytecode.ts'
import { GRANT_ROLE, KNOWN_FUNCTIONS, OF_HOLDERS, TRANSFER, TRANSFER_FROM } from './known-functions.ts'
import { Paths, type StoredValue } from './reach.ts'

/** A function that compares the caller with an address, which must be read from storage. */
export type GuardedFunction = { readonly selector: string; readonly by: bigint | StoredValue }

export type CodeFindings = {
  readonly findings: Findings
  /** In the order of the code. */
  readonly selectors: readonly string[]
  readonly guarded: readonly GuardedFunction[]
  readonly hasRoles: boolean
  /** Delegates to other code. */
  readonly delegates: boolean
}

/** No legitimate token has more functions than this. */
const MAX_FUNCTIONS = 256
const MAX_GUARDED = 32
const HIGHEST_SMALL_NUMBER = 1n << 64n

/** Static analysis of code. `where` is added to each finding. */
export function findInCode(code: Uint8Array, where = ''): CodeFindings {
  const instructions = readInstructions(code)
  const functions = [...dispatched(instructions)].slice(0, MAX_FUNCTIONS)
  const found = new Map<ContractFlag, string[]>(CONTRACT_FLAGS.map((flag) => [flag, []]))
  const note = (flag: ContractFlag, what: string) => found.get(flag)?.push(`${what}${where}`)
  for (const [selector] of functions) {
    const known = KNOWN_FUNCTIONS.get(selector)
    if (known !== undefined) note(known.flag, `${selector} ${known.signature}`)
  }
  // Most important first, because the analysis is bounded.
  const paths = new Paths(instructions)
  for (const [selector, entry] of functions) {
    if (selector !== TRANSFER && selector !== TRANSFER_FROM) continue
    for (const [at, name] of paths.reachFrom(entry).calls)
      note('callsOutInTransfer', `${name} at ${hexOf(at)}`)
  }
  const all = paths.reachFrom(0)
  const destructs = all.isComplete ? [...all.selfdestructs] : present(instructions, OP.SELFDESTRUCT)
  for (const at of destructs) note('selfdestruct', `SELFDESTRUCT at ${hexOf(at)}`)
  const guarded = functions
    .filter(([selector]) => !OF_HOLDERS.has(selector))
    .flatMap(([selector, entry]) =>
      paths.reachFrom(entry).callerChecks.map((check) => ({ selector, by: check.with })),
    )
  return {
    findings: findingsBy((flag) => bounded(found.get(flag) ?? [])),
    selectors: functions.map(([selector]) => selector),
    guarded: guarded.filter(isSomebody).slice(0, MAX_GUARDED),
    hasRoles: functions.some(([selector]) => selector === GRANT_ROLE),
    delegates: present(instructions, OP.DELEGATECALL).length > 0,
  }
}

export function mergeFindings(all: readonly Findings[]): Findings {
  return findingsBy((flag) => bounded(all.flatMap((findings) => findings[flag])))
}

function bounded(evidence: readonly string[]): string[] {
  return [...new Set(evidence)].slice(0, MAX_FINDINGS)
}

/** Small numbers, above all zero, are not addresses. */
function isSomebody({ by }: GuardedFunction): boolean {
  return typeof by === 'object' || by > HIGHEST_SMALL_NUMBER
}

function hexOf(at: number): string {
  return `0x${at.toString(16)}`
}
