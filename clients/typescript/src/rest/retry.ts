import { ApiError, ConnectionError } from '../errors.ts'

const FIRST_DELAY_MS = 200
const MAX_DELAY_MS = 10_000

/** Codes that pass by themselves. `quota_exhausted` is not among them: it lasts until the next month. */
const PASSING: ReadonlySet<string> = new Set([
  ...['rate_limited', 'too_many_history_reads'],
  ...['metering_unavailable', 'store_unavailable', 'chain_unavailable', 'internal'],
])

/** Whether sending the request again may succeed and costs nothing twice. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (!(error instanceof ApiError)) return false
  // A query that timed out was charged: repeating it would be charged again.
  if ((error.meta.cuCost ?? 0) > 0) return false
  // An unknown id with `Retry-After` is being looked up.
  if (error.status === 400) return error.retryAfterMs !== undefined
  return PASSING.has(error.code) || error.status === 502 || error.status === 504
}

/** Exponential backoff with full jitter, and never before the gateway asked for it. */
export function retryDelayMs(error: unknown, attempt: number, random: () => number): number {
  const backoff = random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt)
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined
  // Jitter on top, so that clients that were refused together do not return together.
  return asked === undefined ? backoff : asked + random() * Math.min(1_000, asked / 4)
}
