import type { ErrorCode } from './generated/codes.ts'
import type { AnswerMeta } from './rest/answer.ts'

/** Base class of every error that the client throws itself. An aborted call rejects with the reason of its signal. */
export class ChaintapeError extends Error {
  override name = 'ChaintapeError'
}

/** One fault of a refused request; `pointer` names the parameter or the part of the body. */
export type RequestFault = { readonly pointer: string; readonly detail: string }

/** The gateway refused a request or failed to answer it. */
export class ApiError extends ChaintapeError {
  override name = 'ApiError'
  readonly status: number
  /** A gateway that is newer than this client may send codes that are not listed. */
  readonly code: ErrorCode | (string & {})
  readonly requestId: string | undefined
  readonly faults: readonly RequestFault[]
  readonly meta: AnswerMeta

  constructor(
    message: string,
    code: string,
    meta: AnswerMeta,
    requestId?: string,
    faults?: readonly RequestFault[],
  ) {
    super(`${code}: ${message}`)
    this.status = meta.status
    this.code = code
    this.requestId = requestId
    this.faults = faults ?? []
    this.meta = meta
  }

  /** How long the gateway asks to wait before the next attempt. */
  get retryAfterMs(): number | undefined {
    return this.meta.retryAfterMs
  }
}

/** No gateway could be reached, or the connection broke before the response was complete. */
export class ConnectionError extends ChaintapeError {
  override name = 'ConnectionError'
}

/** The deadline of a request passed; `lastError` is the failure of the last attempt. */
export class DeadlineError extends ChaintapeError {
  override name = 'DeadlineError'
  readonly lastError: unknown

  constructor(message: string, lastError: unknown) {
    super(message)
    this.lastError = lastError
  }
}

/** The gateway refused a subscription; `code` is the name of the JSON-RPC error. */
export class StreamError extends ChaintapeError {
  override name = 'StreamError'
  readonly code: string
  readonly data: unknown

  constructor(message: string, code: string, data?: unknown) {
    super(`${code}: ${message}`)
    this.code = code
    this.data = data
  }
}

/** Events were lost and cannot be replayed. Thrown by a stream that has no `onGap`. */
export class GapError extends ChaintapeError {
  override name = 'GapError'
  readonly gap: Gap

  constructor(gap: Gap) {
    super(`${gap.stream}: ${gap.message}; handle it with onGap`)
    this.gap = gap
  }
}

export type Gap = {
  /** The name of the stream, as in its cursor store. */
  readonly stream: string
  /** `cursor_too_old`: older than all that the gateway retains. `cursor_invalid`: issued by no gateway of this installation. */
  readonly reason: 'cursor_too_old' | 'cursor_invalid'
  readonly message: string
  /** Everything after this cursor, up to `resumedAt`, is lost for the stream. Read it over REST if you need it. */
  readonly lostAfter: string
  /** Where the stream continues. */
  readonly resumedAt: string
}

/** Whether an error is an `ApiError`, with one of these codes if any are given. */
export function isApiError<Code extends ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ApiError & { readonly code: Code } {
  return (
    error instanceof ApiError && (codes.length === 0 || (codes as readonly string[]).includes(error.code))
  )
}
