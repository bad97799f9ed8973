import { withoutApiKeys } from '../domain/api-key.ts'
import { ChaintapeError, type ERROR_CODES, type ErrorCode } from '../domain/errors.ts'

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

type PublicCode = {
  [Code in ErrorCode]: (typeof ERROR_CODES)[Code] extends 'refuse' ? Code : never
}[ErrorCode]

/** Failures that are not the request's fault, or not for ever, and that a client can act on. */
type PassingCode =
  | 'rate_limited'
  | 'too_many_history_reads'
  | 'quota_exhausted'
  | 'metering_unavailable'
  | 'store_unavailable'
  | 'chain_unavailable'
  | 'internal'

/** The codes a client can meet, and what HTTP says for each. Every other failure is told as `internal`. */
const HTTP = {
  malformed_request: { status: 400, title: 'The request is malformed' },
  malformed_id: { status: 400, title: 'An id is malformed' },
  unknown_chain: { status: 400, title: 'The chain is not known' },
  unknown_token: { status: 400, title: 'The token is not known' },
  unknown_pair: { status: 400, title: 'The pair is not known' },
  unknown_tag: { status: 400, title: 'The tag is not known' },
  limit_exceeded: { status: 400, title: 'A limit is exceeded' },
  unauthorized: { status: 401, title: 'The API key is missing or invalid' },
  forbidden: { status: 403, title: 'The API key is not valid any more' },
  origin_refused: { status: 403, title: 'The site is not allowed to connect' },
  not_found: { status: 404, title: 'There is no such operation' },
  rate_limited: { status: 429, title: 'Too many requests' },
  too_many_history_reads: { status: 429, title: 'Too many history requests at a time' },
  quota_exhausted: { status: 429, title: 'The credit units are used up' },
  metering_unavailable: { status: 500, title: 'The server cannot meter' },
  store_unavailable: { status: 500, title: 'The server cannot read its data' },
  chain_unavailable: { status: 503, title: 'The chain is unavailable' },
  internal: { status: 500, title: 'The server failed' },
} as const satisfies Record<PublicCode | PassingCode, { status: number; title: string }>

export type ProblemCode = keyof typeof HTTP

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
