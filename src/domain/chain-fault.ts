import type { MessagePlace } from './quarantine.ts'

/** Why a role cannot process a chain at present, as reported to the other processes. */
export type ReportedFault = {
  readonly role: string
  readonly code: string
  readonly since: number
  /** Set if a particular message is the cause. */
  readonly message?: Pick<MessagePlace, 'log' | 'sequence'>
}

/** Roles repeat a report well within this time, so an older report comes from a process that has exited. */
export const FAULT_REPORT_MS = 30_000

type FaultBody = Omit<ReportedFault, 'role'>

/** `undefined` withdraws the report. `since` is in milliseconds. */
export function encodeFault(fault: FaultBody | undefined): Uint8Array {
  if (fault === undefined) return new Uint8Array()
  const { code, since, message } = fault
  return new TextEncoder().encode(JSON.stringify({ code, since, message }))
}

export function decodeFault(body: Uint8Array): FaultBody | undefined {
  if (body.length === 0) return undefined
  const { code, since, message }: Partial<FaultBody> = JSON.parse(new TextDecoder().decode(body))
  if (typeof code !== 'string' || typeof since !== 'number') return undefined
  return message === undefined ? { code, since } : { code, since, message }
}
