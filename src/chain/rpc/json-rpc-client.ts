import { ChaintapeError } from '../../domain/errors.ts'
import { BatchSize } from './batch-size.ts'
import { post, readText } from './http-post.ts'
import { RpcFailure } from './rpc-failure.ts'

type Call = {
  readonly method: string
  readonly params: readonly unknown[]
  readonly signal: AbortSignal
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

export type JsonRpcClientOptions = {
  readonly timeoutMs?: number
  readonly maxBatch?: number
  readonly maxResponseBytes?: number
}

/** The meaning of an error: chains use the same codes for different things. */
export type FailureOf = (method: string, code: number, text: string) => RpcFailure

/** A batch is answered as a whole. Of several short ones, one can be read while the node works on the next. */
const MAX_BATCH = 8
/** Some providers send a JSON-RPC error, such as too many logs, with one of these statuses. */
const ERROR_STATUSES: ReadonlySet<number> = new Set([400, 413])
const MAX_SHOWN_CHARACTERS = 200
/** Shorter parts of an address are words such as `v2`, not keys. */
const MIN_SECRET_CHARACTERS = 6

/**
 * JSON-RPC over HTTP to one node. What is asked in the same turn of the event loop travels together. Nothing
 * that leaves this class, labels and errors included, holds the parts of the URL that may be a key.
 */
export class JsonRpcClient {
  readonly label: string
  readonly #address: URL
  readonly #headers: Record<string, string>
  readonly #secrets: readonly string[]
  readonly #timeoutMs: number
  readonly #batch: BatchSize
  readonly #maxResponseBytes: number
  readonly #failureOf: FailureOf
  #waiting: Call[] = []

  constructor(url: string, index: number, failureOf: FailureOf, options: JsonRpcClientOptions = {}) {
    const parsed = parseUrl(url, index)
    const { username, password } = parsed
    this.label = `${index}:${parsed.host}`
    this.#headers = { 'content-type': 'application/json' }
    const parts = [username, password, ...parsed.pathname.split('/'), ...parsed.searchParams.values()]
    if (username !== '' || password !== '') {
      const pair = [decodeURIComponent(username), decodeURIComponent(password)]
      const encoded = Buffer.from(pair.join(':')).toString('base64')
      this.#headers['authorization'] = `Basic ${encoded}`
      parts.push(...pair, encoded)
    }
    this.#secrets = parts.filter((part) => part.length >= MIN_SECRET_CHARACTERS)
    parsed.username = ''
    parsed.password = ''
    this.#address = parsed
    this.#timeoutMs = options.timeoutMs ?? 10_000
    this.#batch = new BatchSize(options.maxBatch ?? MAX_BATCH)
    this.#maxResponseBytes = options.maxResponseBytes ?? 64 * 1024 * 1024
    this.#failureOf = failureOf
  }

  request(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#sendWaiting())
      this.#waiting.push({ method, params, signal, resolve, reject })
    })
  }

  #sendWaiting(): void {
    const calls = this.#waiting
    this.#waiting = []
    this.#sendBatches(calls)
  }

  #sendBatches(calls: readonly Call[]): void {
    const size = this.#batch.current
    for (let from = 0; from < calls.length; from += size) void this.#send(calls.slice(from, from + size))
  }

  /** Never rejects: every call of the batch gets the failure instead. */
  async #send(calls: readonly Call[]): Promise<void> {
    const controller = new AbortController()
    let open = calls.length
    const releases = calls.map((call) => {
      const onAbort = (): void => {
        call.reject(call.signal.reason)
        // The others of a batch may still want their answers.
        if (--open === 0) controller.abort()
      }
      if (call.signal.aborted) onAbort()
      else call.signal.addEventListener('abort', onAbort, { once: true })
      return () => call.signal.removeEventListener('abort', onAbort)
    })
    let isOverdue = false
    const overdue = setTimeout(() => {
      isOverdue = true
      controller.abort()
    }, this.#timeoutMs)
    let oversized: readonly Call[] = []
    try {
      oversized = this.#settle(calls, await this.#post(calls, controller.signal))
    } catch (error) {
      const failure = isOverdue
        ? new RpcFailure('timeout', `no answer within ${this.#timeoutMs} ms`)
        : this.#asFailure(error)
      if (failure.kind === 'too_large' && calls.length > 1) oversized = calls
      else for (const call of calls) call.reject(failure)
    } finally {
      clearTimeout(overdue)
      for (const release of releases) release()
    }
    if (oversized.length === 0) return this.#batch.succeeded(calls.length)
    // Asked again as it was, the same batch would be as large again.
    this.#batch.failed(calls.length)
    this.#sendBatches(oversized.filter(({ signal }) => !signal.aborted))
  }

  async #post(calls: readonly Call[], signal: AbortSignal): Promise<unknown> {
    const requests = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
    const body = JSON.stringify(requests.length === 1 ? requests[0] : requests)
    const response = await post(this.#address, this.#headers, body, signal)
    const status = response.statusCode ?? 0
    const isError = status !== 200
    if (isError && !ERROR_STATUSES.has(status)) {
      response.destroy()
      const message = `HTTP status ${status}`
      if (status !== 429) throw new RpcFailure('failed', message)
      throw new RpcFailure('rate_limited', message, retryAfterMs(response.headers['retry-after']))
    }
    const text = await readText(response, this.#maxResponseBytes)
    const answer = parseJson(text)
    if (isError && !isErrorObject(answer)) throw new RpcFailure('failed', `HTTP status ${status}`)
    if (answer !== undefined) return answer
    throw new RpcFailure('failed', text === '' ? 'the answer is empty' : 'the answer is not JSON')
  }

  /** Returns the calls that the node refused only because the answers to the whole batch are too large. */
  #settle(calls: readonly Call[], body: unknown): Call[] {
    const oversized: Call[] = []
    // A node that refuses a whole batch answers with one error.
    const answers = Array.isArray(body) ? body : calls.map((_, id) => ({ ...Object(body), id }))
    const byId = new Map(answers.map((answer) => [Object(answer)['id'] as unknown, answer as unknown]))
    calls.forEach((call, id) => {
      const answer = Object(byId.get(id)) as {
        result?: unknown
        error?: { code?: unknown; message?: unknown }
      }
      if (answer.error != null) {
        const text = this.#shown(String(answer.error.message))
        const failure = this.#failureOf(call.method, Number(answer.error.code), text)
        if (failure.kind === 'too_large' && calls.length > 1) oversized.push(call)
        else call.reject(failure)
      } else if (answer.result === undefined) {
        call.reject(new RpcFailure('failed', `${call.method}: no answer to this request`))
      } else call.resolve(answer.result)
    })
    return oversized
  }

  #asFailure(error: unknown): RpcFailure {
    if (error instanceof RpcFailure) return error
    // The message may hold the address, the code of the connection's error never does.
    const { code } = error as { code?: unknown }
    return new RpcFailure('failed', `no connection: ${String(code ?? 'unknown reason')}`)
  }

  #shown(text: string): string {
    let shown = text
    for (const secret of this.#secrets) shown = shown.replaceAll(secret, '***')
    return shown.slice(0, MAX_SHOWN_CHARACTERS)
  }
}

function parseUrl(url: string, index: number): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new ChaintapeError('config_invalid', `rpc_urls.${index} is not an HTTP(S) URL`)
  }
  return parsed
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isErrorObject(answer: unknown): boolean {
  const { error } = Object(answer) as { error?: unknown }
  return Number.isInteger((Object(error) as { code?: unknown }).code)
}

function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const seconds = Number(header)
  const delayMs = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(delayMs) && delayMs >= 0 ? delayMs : undefined
}
