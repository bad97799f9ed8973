import { ApiError, ConnectionError, DeadlineError, type RequestFault } from '../errors.ts'
import type { Problem } from '../generated/schemas.ts'
import type { Hosts } from '../hosts.ts'
import { sleep } from '../timing.ts'
import { type AnswerWithMeta, type RequestOptions, readMeta } from './answer.ts'
import { isPassing, retryDelayMs } from './retry.ts'

export type RestConfig = {
  readonly hosts: Hosts
  readonly key: string | undefined
  readonly fetch: typeof fetch
  readonly timeoutMs: number
  readonly retries: number
  readonly random: () => number
}

export type RestRequest = {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body: unknown
  readonly isRepeatable: boolean
}

/** A gateway that is stuck must not use up the whole deadline: it answers within 8 s or not at all. */
const ATTEMPT_MS = 12_000

/** Sends a request, and again after failures that pass, until its deadline. */
export async function sendRequest<T>(
  config: RestConfig,
  request: RestRequest,
  { signal, timeoutMs = config.timeoutMs, retries = config.retries }: RequestOptions,
): Promise<AnswerWithMeta<T>> {
  const deadline = Date.now() + timeoutMs
  for (let attempt = 0; ; attempt++) {
    const url = config.hosts.current
    try {
      const limit = Math.min(ATTEMPT_MS, deadline - Date.now())
      return await attemptOnce<T>(config, `${url}${request.path}`, request, signal, limit)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof ConnectionError) config.hosts.leave(url)
      const isLast = attempt >= retries || !request.isRepeatable || !isPassing(error)
      if (isLast && Date.now() < deadline) throw error
      const delay = retryDelayMs(error, attempt, config.random)
      if (isLast || Date.now() + delay >= deadline) throw overdue(error, timeoutMs)
      await sleep(delay, signal)
    }
  }
}

/** An answer of the gateway says more than that time is up. */
function overdue(error: unknown, timeoutMs: number): unknown {
  if (error instanceof ApiError) return error
  return new DeadlineError(`no answer within ${timeoutMs} ms`, error)
}

async function attemptOnce<T>(
  { key, fetch }: RestConfig,
  url: string,
  { method, body }: RestRequest,
  signal: AbortSignal | undefined,
  limitMs: number,
): Promise<AnswerWithMeta<T>> {
  signal?.throwIfAborted()
  const attempt = new AbortController()
  const onAbort = (): void => attempt.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(() => attempt.abort(new Error('timeout')), limitMs)
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(key === undefined ? {} : { 'X-API-KEY': key }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: attempt.signal,
    })
    return await readResponse<T>(response)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ConnectionError(`${method} ${url} failed`, { cause: error })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

async function readResponse<T>(response: Response): Promise<AnswerWithMeta<T>> {
  const meta = readMeta(response.status, response.headers)
  const text = await response.text()
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
  if (response.ok) return { data: (isJson ? JSON.parse(text) : text) as T, meta }
  // A proxy in between may answer with a page of its own.
  const problem = isJson ? (JSON.parse(text) as Partial<Problem>) : {}
  const { code = `http_${response.status}`, detail = response.statusText, instance, errors } = problem
  throw new ApiError(detail, code, meta, instance, errors as readonly RequestFault[] | undefined)
}
