/** The JSON-RPC error codes: the standard's, then ours. */
export const RPC_CODES = {
  parse_error: -32_700,
  invalid_request: -32_600,
  method_not_found: -32_601,
  invalid_params: -32_602,
  internal: -32_603,
  unauthorized: -32_001,
  limit_exceeded: -32_002,
  unknown_subject: -32_003,
  rate_limited: -32_004,
  cursor_too_old: -32_005,
  quota_exhausted: -32_006,
} as const

export type RpcId = number | null

export type RpcFaultData = Readonly<Record<string, unknown>>

/** A request that is answered with an error; `data` names the item at fault. */
export class RpcFault extends Error {
  readonly code: keyof typeof RPC_CODES
  readonly data: RpcFaultData | undefined

  constructor(code: keyof typeof RPC_CODES, message: string, data?: RpcFaultData) {
    // Nobody sees its stack, and recording one takes most of the time of a refusal.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'RpcFault'
    this.code = code
    this.data = data
  }
}

export function errorReply(id: RpcId, fault: RpcFault) {
  const data = fault.data === undefined ? {} : { data: fault.data }
  return { jsonrpc: '2.0', id, error: { code: RPC_CODES[fault.code], message: fault.message, ...data } }
}

export const TOO_MANY = new RpcFault('rate_limited', 'too many messages; slow down')
