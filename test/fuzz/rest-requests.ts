import type { Names } from '../contract/world.ts'
import type { Random } from './random.ts'
import { rawBytes, type Target } from './rest-raw.ts'
import { HOSTILE_TEXTS, idLike, pickOperation, strangeJson, valueFor } from './rest-values.ts'

/** One case: bytes, and how they are sent. */
export type Case = {
  /** What an answer's form depends on. */
  readonly method: string
  readonly bytes: Buffer
  /** `framed` is one whole request of HTTP, whatever it says; `raw` may be anything and gets a connection of its own. */
  readonly kind: 'framed' | 'raw'
}

const RAW_SHARE = 0.02
const METHODS = [
  'GET',
  'POST',
  'HEAD',
  'OPTIONS',
  'PUT',
  'DELETE',
  'PATCH',
  'TRACE',
  'PURGE',
  'SEARCH',
  'QUERY',
]

export function makeCase(random: Random, target: Target): Case {
  if (random.chance(RAW_SHARE)) return { method: 'GET', kind: 'raw', bytes: rawBytes(random, target) }
  const { method, path, headers, body } = makeRequest(random, target)
  return { method, kind: 'framed', bytes: framed(method, path, headers, body, random) }
}

type Parts = { method: string; path: string; headers: string[]; body: Buffer | undefined }

function makeRequest(random: Random, target: Target): Parts {
  const operation = pickOperation(random)
  const given = new Map(
    Object.entries(operation.example).map(([name, value]) => [name, known(value, target.names)]),
  )
  for (let change = random.below(3); change > 0 && operation.inputs.length > 0; change--) {
    const input = random.pick(operation.inputs)
    if (random.chance(0.1)) given.delete(input.name)
    else given.set(input.name, valueFor(input, target.names, random))
  }
  if (random.chance(0.05)) given.set(random.pick(HOSTILE_TEXTS), random.pick(HOSTILE_TEXTS))
  const places = new Map(operation.inputs.map(({ name, in: place }) => [name, place]))
  const query: string[] = []
  const inBody: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  let { path } = operation
  for (const [name, value] of given) {
    const place = places.get(name) ?? (operation.method === 'POST' ? 'body' : 'query')
    if (place === 'path') path = path.replace(`{${name}}`, () => encoded(String(value), random))
    else if (place === 'body') inBody[name] = value
    else query.push(`${encoded(name, random)}=${encoded(String(value), random)}`)
  }
  if (random.chance(0.05)) query.push(...strangeQuery(query, random))
  if (query.length > 0) path += `?${query.join('&')}`
  if (random.chance(0.06)) path = strangePath(path, target.names, random)
  const isPost = operation.method === 'POST'
  const method = random.chance(0.04) ? random.pick(METHODS) : operation.method
  const body = isPost || random.chance(0.02) ? makeBody(inBody, random) : undefined
  return { method, path, headers: makeHeaders(body, target, random), body }
}

function known(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((item) => known(item, names))
  if (typeof value !== 'string' || !value.startsWith('$')) return value
  return `${names[value.slice(1) as 'token']}-local`
}

/** As a URL should have it, or with escapes that are doubled, needless, broken, or of no character. */
function encoded(text: string, random: Random): string {
  // Lone surrogates cannot be written in UTF-8, but their bytes can be sent.
  const safe = encodeURIComponent(text.toWellFormed())
  switch (random.below(24)) {
    case 0:
      return safe.replaceAll('%', '%25')
    case 1:
      return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    case 2:
      return `${safe}%`
    case 3:
      return `${safe}%zz`
    case 4:
      return `${safe}%ED%A0%80`
    case 5:
      return `${safe}%C0%AF`
    case 6:
      return `${safe}%00`
    case 7:
      return safe.replaceAll('-', '%2D').replaceAll('0', '%30')
    case 8:
      return `${safe}%u0041`
    default:
      return safe
  }
}

function strangeQuery(query: readonly string[], random: Random): string[] {
  switch (random.below(9)) {
    case 0:
      return [...query]
    case 1:
      return ['', '', '=', '==', '&']
    case 2:
      return ['limit[]=1', 'limit[0]=1', 'limit[__proto__]=1', 'a[b][c]=1']
    case 3:
      return ['__proto__=1', '__proto__[x]=1', 'constructor=1', 'constructor[prototype][x]=1']
    case 4:
      return Array.from({ length: 400 }, (_, index) => `k${index}=v`)
    case 5:
      return Array.from({ length: 200 }, () => 'limit=1')
    case 6:
      return ['x-api-key=1', 'api_key=2']
    case 7:
      return [`q=${'%41'.repeat(2_000)}`]
    default:
      return ['?', '#fragment', ';limit=5', 'a=b?c=d']
  }
}

function strangePath(path: string, names: Names, random: Random): string {
  switch (random.below(16)) {
    case 0:
      return `/${path}`
    case 1:
      return path.replace('/v2', '/v2/.')
    case 2:
      return path.replace('/v2/', '/v2/../v2/')
    case 3:
      return path.replace('/v2/', '/v2/%2e%2e/v2/')
    case 4:
      return path.replaceAll('/', '%2F')
    case 5:
      return `http://127.0.0.1:1${path}`
    case 6:
      return `${path}${'/'.repeat(random.between(1, 300))}`
    case 7:
      return `/v2/${'a/'.repeat(random.between(1, 2_000))}`
    case 8:
      return `/v2/tokens/${'%41'.repeat(random.between(1, 2_000))}`
    case 9:
      return `/${Buffer.from(random.bytes(random.between(1, 40))).toString('hex')}`
    case 10:
      return `/v2/pairs/${Buffer.from(random.bytes(12).map((byte) => 0x80 | byte)).toString('latin1')}`
    case 11:
      return path.toUpperCase()
    case 12:
      return `/docs/${encodeURIComponent(random.pick(HOSTILE_TEXTS).toWellFormed())}`
    case 13:
      return random.pick([
        '/',
        '/openapi.json',
        '/docs',
        '/docs/json',
        '/docs/static/index.html',
        '/ws',
        '/metrics',
      ])
    case 14:
      return `/v2/tokens/${encodeURIComponent(idLike(names, random).toWellFormed())}/${'x'.repeat(random.below(200))}`
    default:
      return `${path}#${'f'.repeat(random.below(50))}`
  }
}

function makeBody(fields: Record<string, unknown>, random: Random): Buffer {
  const json = JSON.stringify(fields)
  switch (random.below(30)) {
    case 0:
      return Buffer.from('['.repeat(random.between(1, 30_000)))
    case 1: {
      const depth = random.between(1, 5_000)
      return Buffer.from(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
    }
    case 2: {
      const depth = random.between(1, 10_000)
      return Buffer.from(`{"token_ids":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    }
    case 3:
      return Buffer.from(json.replace('{', '{"__proto__":{"x":1},'))
    case 4:
      return Buffer.from(json.replace('{', '{"constructor":{"prototype":{"x":1}},'))
    case 5:
      return Buffer.from(json.replace('}', ',"tvl_min":1e999}'))
    case 6:
      return Buffer.from(json.replace('}', ',"tvl_min":-1e-999,"tvl_min":5,"tvl_min":null}'))
    case 7:
      return Buffer.from('{"token_ids":["\\ud800","\\udc00\\ud800-local"]}')
    case 8:
      return Buffer.concat([Buffer.from('{"token_ids":["'), random.bytes(40), Buffer.from('"]}')])
    case 9:
      return Buffer.from(`\ufeff${json}`)
    case 10:
      return Buffer.from(json, 'utf16le')
    case 11:
      return Buffer.from(`${json}${random.pick([' ', '\n', 'x', '{}', ',', '\u0000'])}`)
    case 12:
      return Buffer.from(random.bytes(random.below(200)))
    case 13:
      return Buffer.from(json.slice(0, random.below(json.length)))
    case 14:
      return Buffer.from(JSON.stringify(strangeJson(random)))
    case 15:
      return Buffer.from(JSON.stringify({ ...fields, token_ids: 'x'.repeat(random.between(30_000, 40_000)) }))
    case 16:
      return Buffer.from(`{"token_ids":[${Array(random.between(200, 6_000)).fill('1').join()}]}`)
    case 17:
      return Buffer.from(`{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":1`).join()}}`)
    case 18:
      return Buffer.from(json.replace(/"/g, "'"))
    case 19:
      return Buffer.alloc(0)
    case 20:
      return Buffer.from(`{"token_ids":[${'9'.repeat(random.between(1, 20_000))}]}`)
    default:
      return Buffer.from(json)
  }
}

function makeHeaders(body: Buffer | undefined, { keys }: Target, random: Random): string[] {
  const headers: string[] = []
  const roll = random.below(40)
  if (roll === 0)
    headers.push(`X-API-KEY: ${random.pick(['', 'x', keys.expired, keys.revoked, `${keys.good}0`])}`)
  else if (roll === 1) headers.push(`x-api-key: ${keys.good}`, `X-Api-Key: ${keys.good}`)
  else if (roll === 2)
    headers.push(`X-API-KEY: ${Buffer.from(random.bytes(30).map((byte) => 0x80 | byte)).toString('latin1')}`)
  else if (roll > 3) headers.push(`X-API-KEY: ${keys.good}`)
  if (body !== undefined) {
    headers.push(
      `Content-Type: ${
        random.chance(0.9)
          ? 'application/json'
          : random.pick([
              'application/json; charset=utf-16',
              'APPLICATION/JSON;charset=utf-8',
              'application/json;',
              'application/jsonx',
              'text/plain',
              'application/x-www-form-urlencoded',
              'multipart/form-data; boundary=x',
              'application/vnd.api+json',
              ';',
              '/',
              'x'.repeat(2_000),
            ])
      }`,
    )
  }
  if (random.chance(0.08)) {
    headers.push(
      ...random.pick<string[]>([
        ['Content-Encoding: gzip'],
        ['Accept-Encoding: br, gzip', 'Accept: text/html'],
        ['Range: bytes=0-0'],
        ['If-None-Match: *'],
        ['X-HTTP-Method-Override: DELETE'],
        ['X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Host: evil'],
        [`Cookie: ${'a=b; '.repeat(500)}`],
        [`X-Large: ${'y'.repeat(random.between(1_000, 12_000))}`],
        Array.from({ length: 100 }, (_, index) => `X-Many-${index}: 1`),
        ['__proto__: 1', 'constructor: 1'],
        [`X-Bytes: ${Buffer.from(random.bytes(20).map((byte) => 0x80 | byte)).toString('latin1')}`],
        ['Origin: null', 'Access-Control-Request-Method: POST'],
        ['Accept-Version: 1.2.3'],
        ['Request-Id: a', 'X-Request-Id: b'],
      ]),
    )
  }
  return headers
}

function framed(
  method: string,
  path: string,
  headers: readonly string[],
  body: Buffer | undefined,
  random: Random,
) {
  // What a path holds must not end the request line, or it would be another request.
  const line = `${method} ${withoutBlanks(path)} HTTP/1.1`
  const head = [line, 'Host: gateway', ...headers]
  if (body === undefined) return Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1')
  if (body.length > 0 && random.chance(0.1)) {
    const cut = random.below(body.length)
    const chunks = [body.subarray(0, cut), body.subarray(cut)].filter((chunk) => chunk.length > 0)
    return Buffer.concat([
      Buffer.from(`${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`, 'latin1'),
      ...chunks.flatMap((chunk) => [
        Buffer.from(`${chunk.length.toString(16)}\r\n`),
        chunk,
        Buffer.from('\r\n'),
      ]),
      Buffer.from('0\r\n\r\n'),
    ])
  }
  const length = `Content-Length: ${body.length}`
  return Buffer.concat([Buffer.from(`${[...head, length].join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

function withoutBlanks(path: string): string {
  return [...path].map((character) => (character <= ' ' ? '%20' : character)).join('')
}
