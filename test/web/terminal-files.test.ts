import assert from 'node:assert/strict'
import { get } from 'node:http'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { buildTerminal, describeSizes, SIZE_BUDGET, terminalSizes } from '../../dev/build-web.ts'
import { createKeyStore, type KeyStore } from '../../src/gateway/access/keys/key-store.ts'
import { MEME, sampleToken } from '../support/builders/market-samples.ts'
import { API_KEY, type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

const OTHER_ORIGIN = 'https://elsewhere.example'

let world: GatewayWorld
let gateway: Gateway
let keys: KeyStore
let publicKey: string
let keyId: string

before(
  async () => {
    buildTerminal()
    world = await GatewayWorld.start()
    keys = createKeyStore(await world.logs.openLatest('KEYS'), Date.now)
    const created = await keys.create({ name: 'terminal', plan: 'terminal' })
    publicKey = created.apiKey
    keyId = created.record.id
    gateway = await world.startGateway(
      { terminal: { cu_per_month: 1_000 } },
      { terminal: { api_key: publicKey } },
    )
    await gateway.applied(await world.publish([{ type: 'token', token: sampleToken() }]))
  },
  { timeout: 300_000 },
)

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

type Raw = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: Buffer }

/** The path as it is: `fetch` would resolve `..` itself, and inflate. */
function ask(path: string, headers: Record<string, string> = {}): Promise<Raw> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: gateway.port, path, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      )
    }).on('error', reject)
  })
}

function assetsOf(page: Raw): string[] {
  return [...page.body.toString().matchAll(/"\.(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
}

test('the page has the public key, strict headers, and is revalidated', async () => {
  const page = await ask('/')
  assert.equal(page.status, 200)
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.ok(page.body.toString().includes(`<meta name="chaintape-key" content="${publicKey}">`))
  assert.equal(page.headers['cache-control'], 'no-cache')
  assert.equal(page.headers['x-content-type-options'], 'nosniff')
  assert.equal(page.headers['referrer-policy'], 'no-referrer')
  assert.equal(
    page.headers['content-security-policy'],
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  // Nothing in the page needs more than the policy allows.
  assert.doesNotMatch(page.body.toString(), /<script(?![^>]*src=)|<style| style="|\son\w+="/)
  const again = await ask('/', { 'if-none-match': String(page.headers['etag']) })
  assert.deepEqual([again.status, again.body.length], [304, 0])
  // A query is the state of the page.
  assert.deepEqual((await ask('/?token=0x1-eth&interval=k1')).body, page.body)
})

test('assets are compressed, named by their contents, and cached for good', async () => {
  const paths = assetsOf(await ask('/'))
  assert.ok(paths.length >= 3, `${paths}`)
  for (const path of paths) {
    const plain = await ask(path)
    assert.equal(plain.status, 200, path)
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal(plain.headers['x-content-type-options'], 'nosniff')
    assert.equal(plain.headers['content-encoding'], undefined)
    const packed = await ask(path, { 'accept-encoding': 'br, gzip' })
    assert.deepEqual(
      [packed.headers['content-encoding'], packed.headers['vary']],
      ['gzip', 'Accept-Encoding'],
    )
    assert.deepEqual(gunzipSync(packed.body), plain.body)
    assert.equal((await ask(path, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'], undefined)
  }
})

test('no path leads out of the terminal', async () => {
  const paths = [
    ...['/assets/', '/assets/none.js', '/assets/../index.html', '/assets/..%2f..%2fpackage.json'],
    ...[
      '/assets/%2e%2e/%2e%2e/package.json',
      '/assets/..\\..\\package.json',
      '/../package.json',
      '//etc/passwd',
    ],
    ...['/index.html', '/src/main.tsx', '/assets/%00', '/assets/__proto__', '/assets/constructor'],
  ]
  for (const path of paths) {
    const { status, headers, body } = await ask(path)
    assert.ok(status === 404 || status === 400, `${path}: ${status}`)
    assert.match(String(headers['content-type']), /^application\/problem\+json/, path)
    assert.ok(!body.includes('chaintape-key'), path)
  }
})

test('the API keeps its paths, its keys and its origins', async () => {
  assert.equal((await ask(`/v2/tokens/${MEME}-eth`)).status, 401)
  assert.equal((await ask(`/v2/tokens/${MEME}-eth`, { 'x-api-key': publicKey })).status, 200)
  assert.equal((await ask('/v2/nothing', { 'x-api-key': publicKey })).status, 404)
  for (const path of ['/docs/', '/openapi.json', '/asyncapi.json', '/v2/status'])
    assert.equal((await ask(path)).status, 200, path)
  const socket = await gateway.connect({ 'x-api-key': publicKey })
  await socket.close()
  const strict = await world.startGateway(
    { terminal: {} },
    { terminal: { api_key: publicKey }, allowed_origins: [OTHER_ORIGIN] },
  )
  try {
    const page = await fetch(`${strict.url}/`, { headers: { origin: OTHER_ORIGIN } })
    assert.equal(page.headers.get('access-control-allow-origin'), OTHER_ORIGIN)
    assert.equal(page.headers.get('vary'), 'Origin, Accept-Encoding')
    const refused = await fetch(`${strict.url}/`, { headers: { origin: 'https://evil.example' } })
    assert.equal(refused.headers.get('access-control-allow-origin'), null)
  } finally {
    await strict.stop()
  }
})

test('the key of the page reads, and nothing else', async () => {
  const { body } = await gateway.get('/openapi.json')
  const { paths } = body as { paths: Record<string, Record<string, unknown>> }
  const writing = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'get')
      .map((method) => `${method} ${path}`),
  )
  // Both read: their lists of ids are too long for a URL.
  assert.deepEqual(writing.sort(), ['post /v2/tokens/price', 'post /v2/tokens/search'])
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    for (const path of [`/v2/tokens/${MEME}-eth`, '/v2/usage', '/v2/keys', '/']) {
      const { status } = await fetch(`${gateway.url}${path}`, { method, headers: { 'x-api-key': publicKey } })
      assert.equal(status, 404, `${method} ${path}`)
    }
})

test('a visitor who exhausts the plan of the page stops no other key', async () => {
  const few = await world.startGateway(
    { terminal: { requests_per_second: 1, burst: 5 } },
    { terminal: { api_key: publicKey } },
  )
  try {
    const path = `/v2/tokens/${MEME}-eth`
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await few.get(path, { 'x-api-key': publicKey })).status),
    )
    assert.ok(statuses.filter((status) => status === 429).length >= 10, `${statuses}`)
    assert.equal((await few.get(path, { 'x-api-key': API_KEY })).status, 200)
  } finally {
    await few.stop()
  }
})

test('the key of the page has its own plan, and a gateway says when it is no good', async () => {
  const { body } = await gateway.get('/v2/usage', { 'x-api-key': publicKey })
  const { plan, cu_limit: limit } = body as { plan: string; cu_limit: number }
  assert.deepEqual([plan, limit], ['terminal', 1_000])
  const complaint = 'gateway.terminal.api_key is unknown, expired or revoked'
  assert.ok(!gateway.role.details?.().includes(complaint))
  await keys.revoke(keyId)
  await waitUntil('the key is refused', async () => {
    return (await gateway.get('/v2/usage', { 'x-api-key': publicKey })).status === 403
  })
  assert.ok(gateway.role.details?.().includes(complaint))
})

test('without the setting, the page is the one with links', async () => {
  const plain = await world.startGateway()
  try {
    const page = await (await fetch(plain.url)).text()
    assert.match(page, /API documentation/)
    assert.equal((await fetch(`${plain.url}/assets/x.js`)).status, 404)
    assert.equal((await fetch(`${plain.url}/v2/usage`, { headers: { 'x-api-key': API_KEY } })).status, 200)
  } finally {
    await plain.stop()
  }
})

test('the terminal stays within its size budget', () => {
  console.log(describeSizes())
  const { market, chart } = terminalSizes()
  assert.ok(market <= SIZE_BUDGET.market && chart <= SIZE_BUDGET.chart, describeSizes())
})
