import { hexOf } from './instruction-record.ts'
import type { SolanaTransaction } from './transaction.ts'

/** Events in log messages: `Program data:` of Anchor's emit!, `ray_log:` of Raydium's first exchange. */
export type LoggedEvents = {
  readonly data: readonly Uint8Array[]
  readonly ray: readonly Uint8Array[]
}

const INVOKE = /^Program (\w+) invoke \[(\d+)\]$/
const END = /^Program (\w+) (success|failed)/
const DATA = 'Program data: '
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
  const found = new Map<number, { data: Uint8Array[]; ray: Uint8Array[] }>()
  const running: number[] = []
  let next = 0
  for (const message of logMessages) {
    const invoked = INVOKE.exec(message)
    if (invoked !== null) {
      const [, program = '', height = ''] = invoked
      next = instructions.findIndex(
        (each, index) =>
          index >= next && each.stackHeight === Number(height) && programText(each.program) === program,
      )
      // Without its instruction, the rest of the log cannot be attributed.
      if (next === -1) return found
      running.push(next++)
      continue
    }
    if (END.test(message)) {
      running.pop()
      continue
    }
    const current = running.at(-1)
    if (current === undefined) continue
    const isRay = message.startsWith(RAY_LOG)
    if (!isRay && !message.startsWith(DATA)) continue
    const encoded = message.slice(isRay ? RAY_LOG.length : DATA.length)
    if (!BASE64.test(encoded)) continue
    const events = found.get(current) ?? { data: [], ray: [] }
    found.set(current, events)
    const list = isRay ? events.ray : events.data
    list.push(Buffer.from(encoded, 'base64'))
  }
  return found
}

/** Anchor emits an event as a call to its own program that begins with this tag. */
const CALL_TAG = 'e445a52e51cb9a1d'
const CALL_TAG_BYTES = 8

/** The event in a program's call to itself, without the tag; undefined if the call is no event. */
export function eventInCall(data: Uint8Array, accountCount: number): Uint8Array | undefined {
  const isEvent = accountCount === 1 && data.length >= CALL_TAG_BYTES * 2
  return isEvent && hexOf(data.subarray(0, CALL_TAG_BYTES)) === CALL_TAG
    ? data.subarray(CALL_TAG_BYTES)
    : undefined
}
