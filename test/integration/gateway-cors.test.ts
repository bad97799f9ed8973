import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, test } from 'node:test'
import { MEME, sampleToken } from '../support/builders/market-samples.ts'
import { API_KEY, type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'

const ORIGIN = 'https://terminal.example'
const OTHER = 'https://evil.example'
const TOKEN_PATH = `/v2/tokens/${MEME}-eth`
const EXPOSED =
  'X-CU-Cost, X-CU-Remaining, X-CU-Reset, RateLimit, RateLimit-Policy, X-Block, X-Block-Time, X-Lag-Ms, ' +
  'X-Cursor, X-Holders-Complete, X-Holders-Reason, X-Native-Balances, X-Pending-Ids, X-Unavailable-Chains, Retry-After'

let world: GatewayWorld
let gateway: Gateway
let handled = 0
const onHandled = (): void => void handled++

before(async () => {
  subscribe('tracing:fastify.request.handler:start', onHandled)
  world = await GatewayWorld.start()
  gateway = await world.startGateway()
  await gateway.applied(await world.publish([{ type: 'token', token: sampleToken() }]))
})

after(async () => {
  unsubscribe('tracing:fastify.request.handler:start', onHandled)
  await gateway?.stop()
  await world?.stop()
})

const PREFLIGHT = {
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'x-api-key',
}

async function ask(of: Gateway, path: string, headers: Record<string, string>, method = 'GET') {
  const response = await fetch(`${of.url}${path}`, { method, headers })
  await response.arrayBuffer()
  return { status: response.status, headers: Object.fromEntries(response.headers) }
}

function corsOf({ headers }: { headers: Record<string, string> }): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('access-control-') || name === 'vary'),
  )
}

const ANY = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED }

test('a page of any origin reads responses, errors and the cached response fast path', async () => {
  const key = { origin: ORIGIN, 'x-api-key': API_KEY }
  const first = await ask(gateway, TOKEN_PATH, key)
  const before = handled
  const cached = await ask(gateway, TOKEN_PATH, key)
  assert.equal(handled, before, 'the second response comes from the fast path')
  for (const answer of [first, cached]) {
    assert.equal(answer.status, 200)
    assert.deepEqual(corsOf(answer), ANY)
    assert.equal(answer.headers['x-cu-cost'], first.headers['x-cu-cost'])
    assert.ok(answer.headers['x-block'] !== undefined && answer.headers['x-lag-ms'] !== undefined)
  }
  const errors: [string, Record<string, string>, number][] = [
    [TOKEN_PATH, { origin: ORIGIN }, 401],
    ['/v2/nothing', { origin: ORIGIN }, 404],
    ['/v2/tokens/nonsense', key, 400],
    ['/v2/tokens/%ZZ', key, 400],
    ['/v2/status', { origin: 'null' }, 200],
    ['/openapi.json', { origin: ORIGIN }, 200],
  ]
  for (const [path, headers, status] of errors) {
    const answer = await ask(gateway, path, headers)
    assert.equal(answer.status, status, path)
    assert.deepEqual(corsOf(answer), ANY, path)
  }
})

test('a client that is no browser receives no CORS headers', async () => {
  assert.deepEqual(corsOf(await ask(gateway, TOKEN_PATH, { 'x-api-key': API_KEY })), {})
})

test('a rate-limited response is readable, and preflights are neither limited nor charged', async () => {
  const slow = await world.startGateway({
    default: { requests_per_second: 1, burst: 1, cu_per_month: 1_000 },
  })
  try {
    const key = { origin: ORIGIN, 'x-api-key': API_KEY }
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) {
      const answer = await ask(slow, TOKEN_PATH, key)
      statuses.push(answer.status)
      assert.deepEqual(corsOf(answer), ANY)
      if (answer.status === 429) assert.ok(Number(answer.headers['retry-after']) >= 1)
    }
    assert.ok(statuses.includes(429), `${statuses}`)
    const before = handled
    for (let n = 0; n < 200; n++) {
      const answer = await ask(slow, TOKEN_PATH, { origin: ORIGIN, ...PREFLIGHT }, 'OPTIONS')
      assert.equal(answer.status, 204)
      assert.deepEqual(corsOf(answer), {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'Content-Type, X-API-KEY',
        'access-control-max-age': '86400',
      })
      assert.equal(answer.headers['x-cu-cost'], undefined)
    }
    assert.equal(handled, before)
    assert.equal(await slow.metric('chaintape_gateway_requests_total', { route: 'preflight' }), 200)
  } finally {
    await slow.stop()
  }
})

test('OPTIONS that is no preflight, or has a body, is left to the framework', async () => {
  assert.equal((await ask(gateway, TOKEN_PATH, { origin: ORIGIN }, 'OPTIONS')).status, 404)
  const headers = { origin: ORIGIN, ...PREFLIGHT, 'content-type': 'application/json' }
  const response = await fetch(`${gateway.url}${TOKEN_PATH}`, { method: 'OPTIONS', headers, body: '{}' })
  assert.equal(response.status, 404)
})

test('a list of origins admits those only, over REST and sockets', async () => {
  const strict = await world.startGateway({}, { allowed_origins: [ORIGIN] })
  try {
    const key = { 'x-api-key': API_KEY }
    for (const path of [TOKEN_PATH, TOKEN_PATH, '/v2/nothing']) {
      const listed = corsOf(await ask(strict, path, { ...key, origin: ORIGIN }))
      const expected = { ...ANY, 'access-control-allow-origin': ORIGIN, vary: 'Origin' }
      assert.deepEqual(listed, expected)
      assert.deepEqual(corsOf(await ask(strict, path, { ...key, origin: OTHER })), { vary: 'Origin' })
    }
    assert.equal((await ask(strict, TOKEN_PATH, { origin: ORIGIN, ...PREFLIGHT }, 'OPTIONS')).status, 204)
    assert.equal((await ask(strict, TOKEN_PATH, { origin: OTHER, ...PREFLIGHT }, 'OPTIONS')).status, 404)
    await (await strict.connect({ origin: ORIGIN })).close()
    await assert.rejects(strict.connect({ origin: OTHER }), /403/)
  } finally {
    await strict.stop()
  }
})

test('an empty list turns CORS off: pages of other origins read nothing and open no socket', async () => {
  const off = await world.startGateway({}, { allowed_origins: [] })
  try {
    const answer = await ask(off, TOKEN_PATH, { origin: ORIGIN, 'x-api-key': API_KEY })
    assert.equal(answer.status, 200)
    assert.deepEqual(corsOf(answer), {})
    assert.equal((await ask(off, TOKEN_PATH, { origin: ORIGIN, ...PREFLIGHT }, 'OPTIONS')).status, 404)
    await assert.rejects(off.connect({ origin: ORIGIN }), /403/)
    await (await off.connect({ origin: off.url })).close()
  } finally {
    await off.stop()
  }
})
