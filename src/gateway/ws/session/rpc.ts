import { isTooDeep } from '../../http/json-depth.ts'
import { RpcFault, type RpcId, TOO_MANY } from '../rpc-fault.ts'
import type { Topic, TopicOptions } from '../topic.ts'
import { parseTopic, type TopicRules } from './rpc-topic.ts'

export type Command =
  | {
      readonly method: 'subscribe'
      readonly id: number
      readonly params: EchoedParams
      readonly topic: Topic
      readonly options: TopicOptions
    }
  | {
      readonly method: 'unsubscribe'
      readonly id: number
      readonly params: EchoedParams
      readonly topic: Topic | 'all'
    }
  | { readonly method: 'auth'; readonly id: number; readonly key: string }
  | { readonly method: 'ping'; readonly id: RpcId }

/** Params as the client sent them; by then they are known to hold nothing but strings, and perhaps options. */
export type EchoedParams = readonly unknown[]

export type RpcItem = { readonly id: RpcId; readonly command: Command | RpcFault }

export type RpcMessage = { readonly isBatch: boolean; readonly items: readonly RpcItem[] }

export type RpcRules = TopicRules & {
  readonly maxBatch: number
  /** Called once per request. Params of a rate limited request are not validated: long lists of ids are expensive. */
  readonly mayProceed: () => boolean
}

/** Reads one inbound message. Whatever is wrong with it comes back as a fault, never as an exception. */
export function parseMessage(text: string, rules: RpcRules): RpcMessage {
  if (isTooDeep(text))
    return refuse(new RpcFault('invalid_request', 'the message is nested too deeply'), rules)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // The reason is in the fault: a client has no use for the parser's own words.
    return refuse(new RpcFault('parse_error', 'the message is not JSON'), rules)
  }
  if (!Array.isArray(parsed)) return { isBatch: false, items: [parseItem(parsed, rules)] }
  if (parsed.length === 0) return refuse(new RpcFault('invalid_request', 'the batch is empty'), rules)
  if (parsed.length > rules.maxBatch) {
    return refuse(
      new RpcFault('limit_exceeded', `a batch can have at most ${rules.maxBatch} requests`, {
        limit: 'batch',
        max: rules.maxBatch,
      }),
      rules,
    )
  }
  return { isBatch: true, items: parsed.map((item) => parseItem(item, rules)) }
}

/** A message without a valid request counts as one request. */
function refuse(fault: RpcFault, { mayProceed }: RpcRules): RpcMessage {
  return { isBatch: false, items: [{ id: null, command: mayProceed() ? fault : TOO_MANY }] }
}

function parseItem(item: unknown, rules: RpcRules): RpcItem {
  const mayProceed = rules.mayProceed()
  if (!isObject(item)) {
    if (!mayProceed) return { id: null, command: TOO_MANY }
    return { id: null, command: new RpcFault('invalid_request', 'the request must be an object') }
  }
  // Only own members count: `__proto__` and its kin are names like any other.
  const request = new Map<string, unknown>(Object.entries(item))
  const given = request.get('id')
  const id = Number.isSafeInteger(given) ? (given as number) : null
  if (!mayProceed) return { id, command: TOO_MANY }
  try {
    return { id, command: parseCommand(request, id, rules) }
  } catch (error) {
    if (error instanceof RpcFault) return { id, command: error }
    throw error
  }
}

function parseCommand(request: ReadonlyMap<string, unknown>, id: RpcId, rules: RpcRules): Command {
  const method = request.get('method')
  if (typeof method !== 'string') throw atFault('invalid_request', '/method', 'method must be a string')
  if (request.has('id') && id === null) throw atFault('invalid_request', '/id', 'id must be an integer')
  // Keep-alive code is often written by hand: `{"method":"ping"}` is enough.
  if (method === 'ping') return { method, id }
  if (request.get('jsonrpc') !== '2.0') throw atFault('invalid_request', '/jsonrpc', 'jsonrpc must be "2.0"')
  if (id === null) throw atFault('invalid_request', '/id', 'id must be an integer')
  if (method !== 'subscribe' && method !== 'unsubscribe' && method !== 'auth') {
    const known = 'subscribe, unsubscribe, auth, ping'
    throw atFault('method_not_found', '/method', `unknown method; use one of: ${known}`)
  }
  const params: unknown = request.get('params')
  if (!Array.isArray(params)) throw atFault('invalid_params', '/params', 'params must be an array')
  if (method === 'auth') return { method, id, key: parseKey(params) }
  if (method === 'unsubscribe' && params.length === 0) return { method, id, params: [], topic: 'all' }
  const { topic, options } = parseTopic(params, rules)
  return method === 'subscribe' ? { method, id, params, topic, options } : { method, id, params, topic }
}

function parseKey(params: readonly unknown[]): string {
  const [key] = params
  if (params.length === 1 && typeof key === 'string') return key
  throw atFault('invalid_params', '/params', 'auth takes one string, the API key')
}

function atFault(
  code: ConstructorParameters<typeof RpcFault>[0],
  pointer: string,
  message: string,
): RpcFault {
  return new RpcFault(code, message, { pointer })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
