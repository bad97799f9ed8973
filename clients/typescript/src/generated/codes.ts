// Generated from the description of the gateway: `npm run client:types`. Do not edit.

/** Codes of refused requests: docs/errors.md explains each. */
export type ErrorCode =
  | 'malformed_request'
  | 'malformed_id'
  | 'unknown_chain'
  | 'unknown_token'
  | 'unknown_pair'
  | 'unknown_tag'
  | 'limit_exceeded'
  | 'unauthorized'
  | 'forbidden'
  | 'origin_refused'
  | 'not_found'
  | 'rate_limited'
  | 'too_many_history_reads'
  | 'quota_exhausted'
  | 'metering_unavailable'
  | 'store_unavailable'
  | 'chain_unavailable'
  | 'internal'

/** Codes of JSON-RPC errors, by name. */
export const RPC_CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal: -32603,
  unauthorized: -32001,
  limit_exceeded: -32002,
  unknown_subject: -32003,
  rate_limited: -32004,
  cursor_too_old: -32005,
  quota_exhausted: -32006,
} as const

/** Codes that the gateway closes a socket with. */
export const CLOSE_CODES = {
  goingAway: 1001,
  tooLarge: 1009,
  failed: 1011,
  unauthorized: 4401,
  keyEnded: 4403,
  slowReader: 4408,
  tooMany: 4429,
} as const
