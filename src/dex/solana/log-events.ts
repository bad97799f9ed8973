import { hexStart } from './instruction-record.ts'
import type { SolanaInstruction, SolanaTransaction } from './transaction.ts'

/** Events in log messages, in base64: `Program data:` of Anchor's emit!, `ray_log:` of Raydium's first exchange. */
export type LoggedEvents = {
  readonly data: readonly string[]
  readonly ray: readonly string[]
}

const INVOKE = /^Program (\w+) invoke \[(\d+)\]$/
const END = /^Program (\w+) (success|failed)/
const DATA = 'Program data: '
const LOG = 'Program log: '
const RAY_LOG = 'Program log: ray_log: '
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * The events that each instruction logged, by its index. Messages follow execution, so each `invoke` belongs to the next
 * instruction of that program and height. A node truncates long logs, and then later events are missing.
 */
export function loggedEvents(
  { instructions, logMessages }: SolanaTransaction,
  programText: (program: number) => string,
): Map<number, LoggedEvents> {
  const found = new Map<number, { data: string[]; ray: string[] }>()
  const running: number[] = []
  let next = 0
  for (const message of logMessages) {
    const isRay = message.startsWith(RAY_LOG)
    if (isRay || message.startsWith(DATA)) {
      const current = running.at(-1)
      if (current === undefined) continue
      const events = found.get(current) ?? { data: [], ray: [] }
      found.set(current, events)
      if (isRay) events.ray.push(message.slice(RAY_LOG.length))
      else events.data.push(message.slice(DATA.length))
      continue
    }
    // Most messages are a program's own words, which are no invoke and no end.
    if (message.startsWith(LOG)) continue
    const invoked = message.endsWith(']') ? INVOKE.exec(message) : null
    if (invoked !== null) {
      const [, program = '', height = ''] = invoked
      next = instructionFrom(next, instructions, program, Number(height), programText)
      // Without its instruction, the rest of the log cannot be attributed.
      if (next === instructions.length) return found
      running.push(next++)
    } else if (END.test(message)) running.pop()
  }
  return found
}

function instructionFrom(
  start: number,
  instructions: readonly SolanaInstruction[],
  program: string,
  stackHeight: number,
  programText: (program: number) => string,
): number {
  for (let at = start; at < instructions.length; at++) {
    const each = instructions[at] as SolanaInstruction
    if (each.stackHeight === stackHeight && programText(each.program) === program) return at
  }
  return instructions.length
}

/** The bytes of logged events; those that are not base64 are left out. */
export function eventBytes(events: readonly string[]): Uint8Array[] {
  return events.flatMap((encoded) => (BASE64.test(encoded) ? [Buffer.from(encoded, 'base64')] : []))
}

/** Anchor emits an event as a call to its own program that begins with this tag. */
const CALL_TAG = 'e445a52e51cb9a1d'
const CALL_TAG_BYTES = 8

/** The event in a program's call to itself, without the tag; undefined if the call is no event. */
export function eventInCall(data: Uint8Array, accountCount: number): Uint8Array | undefined {
  const isEvent = accountCount === 1 && data.length >= CALL_TAG_BYTES * 2
  return isEvent && hexStart(data, CALL_TAG_BYTES) === CALL_TAG ? data.subarray(CALL_TAG_BYTES) : undefined
}
