/** Why a role cannot process a chain at present, as other processes are told. */
export type ReportedFault = { readonly role: string; readonly code: string; readonly since: number }

/** Roles repeat a report well within this time, so an older one is from a process that is gone. */
export const FAULT_REPORT_MS = 60_000

type FaultBody = { readonly code: string; readonly since: number }

/** `undefined` withdraws the report. `since` is in milliseconds. */
export function encodeFault(fault: FaultBody | undefined): Uint8Array {
  if (fault === undefined) return new Uint8Array()
  return new TextEncoder().encode(JSON.stringify({ code: fault.code, since: fault.since }))
}

export function decodeFault(body: Uint8Array): FaultBody | undefined {
  if (body.length === 0) return undefined
  const { code, since }: Partial<FaultBody> = JSON.parse(new TextDecoder().decode(body))
  return typeof code === 'string' && typeof since === 'number' ? { code, since } : undefined
}
