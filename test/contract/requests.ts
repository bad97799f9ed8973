import type { Operation } from './operations.ts'
import type { KeyName, Names, World } from './world.ts'

export type Request = {
  readonly method: string
  readonly path: string
  /** What is sent as it is; anything but text is written as JSON. */
  readonly body?: unknown
  /** One of the world's keys, or text of one's own; none at all if undefined. */
  readonly key: KeyName | { readonly text: string } | undefined
  readonly headers?: Readonly<Record<string, string>>
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown }

export type Given = Readonly<Record<string, unknown>>

/** The request of an operation with these inputs, whether they are good or not. Others are put where they can go. */
export function requestOf(operation: Operation, given: Given, names: Names): Request {
  const inputs = new Map(operation.inputs.map((input) => [input.name, input.in]))
  const elsewhere = operation.method === 'POST' ? 'body' : 'query'
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  let { path } = operation
  for (const [name, value] of Object.entries(given)) {
    const known = withNames(value, names)
    const place = inputs.get(name) ?? elsewhere
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(String(known)))
    else if (place === 'body') body[name] = known
    else for (const each of Array.isArray(known) ? known : [known]) query.append(name, String(each))
  }
  const search = query.size === 0 ? '' : `?${query}`
  const key = operation.key === 'needed' ? 'good' : undefined
  return {
    method: operation.method,
    path: `${path}${search}`,
    key,
    ...(operation.method === 'POST' ? { body } : {}),
  }
}

export async function send(
  { url, keys }: { readonly url: string; readonly keys: Partial<World['keys']> },
  request: Request,
): Promise<Answer> {
  const { method, path, body, key } = request
  const apiKey = typeof key === 'string' ? keys[key] : key?.text
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(apiKey === undefined ? {} : { 'X-API-KEY': apiKey }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = /json/.test(answer.headers.get('content-type') ?? '')
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
}

function withNames(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((item) => withNames(item, names))
  if (typeof value !== 'string' || !value.startsWith('$')) return value
  const [name = '', index] = value.slice(1).split('/')
  const found = names[name as keyof Names]
  const address = typeof found === 'string' ? found : found?.[Number(index)]
  if (address === undefined) throw new Error(`${value} is not on the market`)
  return `${address}-local`
}
