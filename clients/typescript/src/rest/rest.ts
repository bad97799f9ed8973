import { OPERATIONS, type RestMethods } from '../generated/operations.ts'
import { Hosts } from '../hosts.ts'
import { answerOf, type RequestOptions } from './answer.ts'
import { type RestConfig, sendRequest } from './request.ts'

export type RestOptions = {
  /** The gateway, or several equivalent ones: requests move on to the next one that answers. */
  readonly url: string | readonly string[]
  readonly key?: string | undefined
  /** Deadline of a call with all its attempts. Default: 30 s. */
  readonly timeoutMs?: number | undefined
  /** Attempts after the first one, for operations that only read. Default: 3. */
  readonly retries?: number | undefined
  readonly fetch?: typeof fetch | undefined
}

type Row = (typeof OPERATIONS)[keyof typeof OPERATIONS]
type Input = { readonly [name: string]: unknown }

/** One typed method per REST operation. */
export function createRest(options: RestOptions): RestMethods {
  const config: RestConfig = {
    hosts: new Hosts(options.url),
    key: options.key,
    // Browsers refuse a `fetch` that is called as a method of another object.
    fetch: options.fetch ?? ((...args) => fetch(...args)),
    timeoutMs: options.timeoutMs ?? 30_000,
    retries: options.retries ?? 3,
    random: Math.random,
  }
  const methods = Object.entries(OPERATIONS).map(([name, row]) => [name, methodOf(config, row)])
  return Object.fromEntries(methods) as RestMethods
}

function methodOf(config: RestConfig, row: Row) {
  const { method, hasPathId, hasInput, isRepeatable } = row
  return (...args: unknown[]) => {
    const rest = [...args]
    const id = hasPathId ? String(rest.shift()) : ''
    const input = hasInput ? ((rest.shift() ?? {}) as Input) : {}
    const [options = {}] = rest as [RequestOptions?]
    const path = row.path.replace(/\{[^}]+\}/, encodeURIComponent(id))
    const request =
      method === 'POST' ? { path, body: input } : { path: path + queryOf(input), body: undefined }
    return answerOf(sendRequest(config, { method, isRepeatable, ...request }, options))
  }
}

function queryOf(input: Input): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) if (value !== undefined) query.set(name, String(value))
  return `${query}` === '' ? '' : `?${query}`
}
