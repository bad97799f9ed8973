import { withoutApiKeys } from '../../domain/api-key.ts'
import { ChaintapeError, type ERROR_CODES, type ErrorCode } from '../../domain/errors.ts'

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

type PublicCode = {
  [Code in ErrorCode]: (typeof ERROR_CODES)[Code] extends 'refuse' ? Code : never
}[ErrorCode]

/** Failures that are temporary or not the request's fault, and that a client can act on. */
type PassingCode =
  | 'rate_limited'
  | 'too_many_history_reads'
  | 'quota_exhausted'
  | 'metering_unavailable'
  | 'store_unavailable'
  | 'chain_unavailable'
  | 'internal'

/** The codes that clients can receive, with their HTTP status and title. Every other failure is reported as `internal`. */
const HTTP = {
  malformed_request: { status: 400, title: 'Malformed request' },
  malformed_id: { status: 400, title: 'Malformed ID' },
  unknown_chain: { status: 400, title: 'Unknown chain' },
  unknown_token: { status: 400, title: 'Unknown token' },
  unknown_pair: { status: 400, title: 'Unknown pair' },
  unknown_tag: { status: 400, title: 'Unknown tag' },
  limit_exceeded: { status: 400, title: 'Limit exceeded' },
  unauthorized: { status: 401, title: 'API key missing or invalid' },
  forbidden: { status: 403, title: 'API key expired or revoked' },
  origin_refused: { status: 403, title: 'Origin not allowed' },
  not_found: { status: 404, title: 'Operation not found' },
  rate_limited: { status: 429, title: 'Rate limit exceeded' },
  too_many_history_reads: { status: 429, title: 'Too many concurrent history requests' },
  quota_exhausted: { status: 429, title: 'Credit units exhausted' },
  metering_unavailable: { status: 500, title: 'Metering unavailable' },
  store_unavailable: { status: 500, title: 'Store unavailable' },
  chain_unavailable: { status: 503, title: 'Chain unavailable' },
  internal: { status: 500, title: 'Internal server error' },
} as const satisfies Record<PublicCode | PassingCode, { status: number; title: string }>

export type ProblemCode = keyof typeof HTTP

export const PROBLEM_CODES = Object.keys(HTTP) as readonly ProblemCode[]

/** `pointer` is a JSON pointer as a URI fragment: into the body, or naming a parameter. */
export type ProblemItem = { readonly pointer: string; readonly detail: string }

/** A request that cannot be served as it is. */
export class RequestError extends ChaintapeError {
  declare readonly code: ProblemCode
  readonly items: readonly ProblemItem[] | undefined

  constructor(code: ProblemCode, message: string, items?: readonly ProblemItem[]) {
    super(code, message)
    this.name = 'RequestError'
    this.items = items
  }
}

/** RFC 9457 body. What a client put where it does not belong is not repeated if it is a key: bodies end up in logs. */
export function problem(error: RequestError, requestId: string) {
  const { status, title } = HTTP[error.code]
  const shown = error.items?.map(({ pointer, detail }) => ({
    pointer: withoutApiKeys(pointer),
    detail: withoutApiKeys(detail),
  }))
  const errors = shown === undefined ? {} : { errors: shown }
  return {
    type: `urn:chaintape:error:${error.code}`,
    title,
    status,
    detail: withoutApiKeys(error.message),
    instance: requestId,
    code: error.code,
    ...errors,
  }
}
