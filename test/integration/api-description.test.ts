import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Compile } from 'typebox/schema'
import { createKeyStore, type KeyStore } from '../../src/gateway/access/keys/key-store.ts'
import { API_EXAMPLES_FILE, type ApiExample, readApiExamples } from '../../src/gateway/http/api-examples.ts'
import { VERSION } from '../../src/lib/version.ts'
import { EXAMPLE_MARKET, EXAMPLE_REQUESTS, type ExampleRequest } from '../support/rigs/example-requests.ts'
import { API_KEY, type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

/** `npm run api:examples` rewrites the examples from the responses of the gateway. */
const IS_UPDATE = process.env['UPDATE_EXAMPLES'] === '1'

type Json = Readonly<Record<string, unknown>>
type Described = {
  readonly operationId: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example?: unknown } } }
  readonly responses: {
    readonly 200: { readonly content: Readonly<Record<string, { schema: Json; example?: unknown }>> }
  }
}
type Document = {
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly responses: Readonly<Record<string, unknown>>
  }
}

let world: GatewayWorld
let gateway: Gateway
let keys: KeyStore
let document: Document
let operations: readonly { readonly method: string; readonly path: string; readonly described: Described }[]

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  await world.publish(EXAMPLE_MARKET)
  await world.storeAll()
  gateway = await world.startGateway(
    { slow: { requests_per_second: 1, burst: 1, cu_per_month: 1_000 } },
    { public_urls: ['https://data.example'] },
  )
  keys = createKeyStore(await world.logs.openLatest('KEYS'), Date.now)
  document = (await gateway.get('/openapi.json', {})).body as Document
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({ method, path, described })),
  )
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

/** A month, a clock and a request ID differ from run to run: examples show fixed ones. */
const FIXED: Readonly<Record<string, unknown>> = {
  month: '2026-01',
  day: '2026-01-15',
  reset_at: 1_769_904_000,
  lag_ms: 850,
  // Contains the epoch of the log.
  cursor:
    'c1.W1siZXRoIiwiNzQxOWM1YTItZTMzMy00M2U4LTkyY2UtMDQzYzI2NWJmNjM1IiwxLDUzNDU4NjE5LDEsMTcwMDAwMDAwMSwwXV0',
  instance: '4b1f0a52-7c19-4b6e-9d3e-0f7f6a1f2c55',
}

function withFixedValues(operationId: string, body: unknown): unknown {
  if (operationId === 'udfTime') return '1700000002'
  const text = JSON.stringify(body, (key, value: unknown) => {
    if (key === 'time' && operationId === 'status') return 1_700_000_002
    return key in FIXED && typeof value === typeof FIXED[key] ? FIXED[key] : value
  })
  return JSON.parse(text)
}

async function ask(method: string, path: string, request: ExampleRequest, key: string): Promise<unknown> {
  const query = new URLSearchParams()
  let filled = path
  for (const [name, value] of Object.entries(request.parameters ?? {})) {
    if (filled.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, String(value))
    else query.set(name, String(value))
  }
  const response = await fetch(`${gateway.url}${filled}${query.size === 0 ? '' : `?${query}`}`, {
    method: method.toUpperCase(),
    headers: { 'x-api-key': key, ...(request.body !== undefined && { 'content-type': 'application/json' }) },
    ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
  })
  const text = await response.text()
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

async function newKey(name: string, plan = 'default') {
  const { apiKey, record } = await keys.create({ name, plan, expiresAt: undefined })
  await waitUntil(`key ${name} is known`, async () => {
    return (await gateway.get('/v2/chains', { 'x-api-key': apiKey })).status !== 401
  })
  return { apiKey, id: record.id }
}

async function usedKey(): Promise<string> {
  const { apiKey } = await newKey('usage')
  await gateway.get('/v2/tokens/main?chain=eth', { 'x-api-key': apiKey })
  return apiKey
}

async function realExamples(): Promise<Record<string, ApiExample>> {
  const examples: Record<string, ApiExample> = {}
  for (const { method, path, described } of operations) {
    const { operationId } = described
    const request = EXAMPLE_REQUESTS[operationId]
    assert.ok(request !== undefined, `add an example request for ${operationId}`)
    // The usage of a key depends on all requests before.
    const key = operationId === 'usage' ? await usedKey() : API_KEY
    const response = withFixedValues(operationId, await ask(method, path, request, key))
    examples[operationId] = { ...request, response }
  }
  return examples
}

async function realProblems(): Promise<Record<string, unknown>> {
  const unknown = `/v2/tokens/0x${'9'.repeat(40)}-eth`
  const revoked = await newKey('revoked')
  await keys.revoke(revoked.id)
  const slow = await newKey('slow', 'slow')
  const bodies: unknown[] = []
  const until = async (status: number, key: string): Promise<void> => {
    await waitUntil(`status ${status}`, async () => {
      const answer = await gateway.get(unknown, { 'x-api-key': key })
      if (answer.status === status) bodies.push(withFixedValues('', answer.body))
      return answer.status === status
    })
  }
  await until(400, API_KEY)
  await until(401, '')
  await until(403, revoked.apiKey)
  await until(429, slow.apiKey)
  return Object.fromEntries(bodies.map((body) => [(body as { status: number }).status, body]))
}

test('examples are the responses of a real gateway', async () => {
  const real = { operations: await realExamples(), problems: await realProblems() }
  if (IS_UPDATE) writeFileSync(API_EXAMPLES_FILE, `${JSON.stringify(real, null, 2)}\n`)
  const hint = 'a response changed: run `npm run api:examples` and review the difference'
  const stored = readApiExamples()
  for (const [operationId, example] of Object.entries(real.operations)) {
    assert.deepEqual(stored.operations[operationId], example, `${operationId}: ${hint}`)
  }
  assert.deepEqual(stored.problems, real.problems, hint)
  assert.deepEqual(Object.keys(stored.operations).sort(), Object.keys(real.operations).sort(), hint)
})

test('every operation has a listed tag, an example of each part, and a response that fits its schema', {
  // The gateway serves the examples it was started with.
  skip: IS_UPDATE,
}, () => {
  assert.deepEqual(document.servers, [{ url: 'https://data.example' }])
  const tags = new Set(document.tags.map(({ name }) => name))
  const stored = readApiExamples()
  assert.ok(operations.length >= 22)
  for (const { described } of operations) {
    const { operationId, requestBody, parameters = [], responses } = described
    assert.deepEqual(
      described.tags?.map((tag) => tags.has(tag)),
      [true],
      operationId,
    )
    const example = stored.operations[operationId]
    assert.ok(example !== undefined, operationId)
    const shown = parameters.filter((parameter) => parameter.example !== undefined)
    const values = Object.fromEntries(shown.map((parameter) => [parameter.name, parameter.example]))
    assert.deepEqual(values, example.parameters ?? {}, operationId)
    for (const parameter of parameters) {
      if (parameter.in === 'path') assert.ok(parameter.example !== undefined, operationId)
    }
    assert.deepEqual(requestBody?.content['application/json'].example, example.body, operationId)
    const [media] = Object.values(responses[200].content)
    assert.ok(media !== undefined)
    assert.deepEqual(media.example, example.response, operationId)
    const schema = Compile(inlined(media.schema) as Json)
    assert.ok(schema.Check(media.example), `${operationId}: the example does not fit the schema`)
  }
  assert.deepEqual(Object.keys(stored.problems), ['400', '401', '403', '429'])
})

test('every object of a response has a name', () => {
  const anonymous = operations.flatMap(({ described }) =>
    Object.values(described.responses[200].content).flatMap(({ schema }) => {
      const { additionalProperties: member } = schema as { additionalProperties?: unknown }
      const isMap = typeof member === 'object'
      return schema['type'] === 'object' && !isMap ? [described.operationId] : []
    }),
  )
  assert.deepEqual(anonymous, [])
  const names = Object.keys(document.components.schemas)
  for (const name of ['TokenRow', 'Pair', 'Candle', 'Swap', 'LiquidityTransaction', 'Problem', 'Usage']) {
    assert.ok(names.includes(name), name)
  }
})

test('GET / shows a page that leads to the documentation, without a key', async () => {
  const response = await fetch(`${gateway.url}/`)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
  const page = await response.text()
  assert.ok(page.includes(`Chaintape ${VERSION}`))
  const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, link]) => link ?? '')
  assert.deepEqual(links, ['docs', 'openapi.json', 'asyncapi.json', 'v2/status'])
  for (const link of links) assert.equal((await fetch(`${gateway.url}/${link}`)).status, 200, link)
})

/** The schema with every reference replaced by what it refers to. */
function inlined(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inlined)
  if (typeof node !== 'object' || node === null) return node
  const reference = (node as { $ref?: string }).$ref
  if (reference !== undefined) return inlined(document.components.schemas[reference.split('/').at(-1) ?? ''])
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(value)]))
}
