import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { createKeyStore, type KeyStore } from '../../src/gateway/access/keys/key-store.ts'
import { MEME, MEME_WETH, samplePair, sampleToken } from '../support/builders/market-samples.ts'
import { API_KEY, type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

const sockets = { connections: 1 }
const PLANS = {
  // Slow enough that a bucket does not fill up again while a test looks at it.
  usual: { requests_per_second: 1, burst: 1_000, cu_per_month: 1_000_000, sockets },
  poor: { requests_per_second: 1, burst: 1_000, cu_per_month: 12, sockets },
  slow: { requests_per_second: 1, burst: 3, cu_per_month: 1_000_000, sockets },
}

let world: GatewayWorld
let gateway: Gateway
let keys: KeyStore
/** How many requests a handler of the framework was asked to answer: it says so itself. */
let handled = 0
const onHandled = (): void => void handled++

before(async () => {
  subscribe('tracing:fastify.request.handler:start', onHandled)
  world = await GatewayWorld.start()
  gateway = await world.startGateway(PLANS)
  keys = createKeyStore(await world.logs.openLatest('KEYS'), Date.now)
  await gateway.applied(
    await world.publish([
      { type: 'token', token: sampleToken() },
      { type: 'pair', pair: samplePair() },
    ]),
  )
})

after(async () => {
  unsubscribe('tracing:fastify.request.handler:start', onHandled)
  await gateway?.stop()
  await world?.stop()
})

let spellings = 0
/** A path that nobody has asked for yet: any character may be escaped, and each spelling is a URL of its own. */
function newPath(kind: 'tokens' | 'pairs' = 'tokens'): string {
  let bits = ++spellings
  const address = (kind === 'tokens' ? MEME : MEME_WETH).slice(2).replace(/./g, (character) => {
    const isEscaped = (bits & 1) === 1
    bits >>= 1
    return isEscaped ? `%${character.charCodeAt(0).toString(16)}` : character
  })
  return `/v2/${kind}/0x${address}-eth`
}

/** Keys become known in the order they were made: by another one, so that nothing is taken from the new one's bucket. */
async function newKey(plan: keyof typeof PLANS): Promise<{ id: string; apiKey: string }> {
  const { record, apiKey } = await keys.create({ name: plan, plan })
  const next = await keys.create({ name: 'next', plan: 'usual' })
  await waitUntil('the key is known', async () => {
    return (await gateway.get('/v2/usage', { 'x-api-key': next.apiKey })).status === 200
  })
  return { id: record.id, apiKey }
}

type Exchange = { readonly byFramework: number; readonly text: string }

const LAST = 'GET /none HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

/** Sends text as it is, and whatever ends the connection; gives what was answered to the text. */
async function exchange(text: string): Promise<Exchange> {
  const before = handled
  const endsItself =
    /connection: close|HTTP\/1.0\r\n(?!.*keep-alive)/s.test(text) || !text.includes('host: x')
  const socket = connect({ host: '127.0.0.1', port: gateway.port })
  await once(socket, 'connect')
  let received = ''
  socket.setEncoding('latin1').setTimeout(10_000, () => socket.destroy(new Error('no answer came')))
  socket.on('data', (chunk: string) => {
    received += chunk
  })
  socket.write(endsItself ? text : text + LAST)
  await once(socket, 'close')
  const end = endsItself ? received.length : received.lastIndexOf('HTTP/1.1 404 ')
  return { byFramework: handled - before, text: received.slice(0, end) }
}

/** Without what differs between any two answers: times, and what is left after the one before. */
function masked({ text }: Exchange): string {
  return text
    .replace(/^date: .*$/gim, 'date: *')
    .replace(/^x-lag-ms: \d+\r$/gm, 'x-lag-ms: *\r')
    .replace(/^x-cu-remaining: \d+\r$/gm, 'x-cu-remaining: *\r')
    .replace(/^(retry-after): \d+\r$/gm, '$1: *\r')
    .replace(/"instance":"[0-9a-f-]{36}"/g, '"instance":"*"')
    .replace(/^ratelimit: .*\r$/gm, (line) => line.replace(/([rt])=\d+/g, '$1=*'))
}

const number = (exchanged: Exchange, pattern: RegExp): number =>
  Number(pattern.exec(exchanged.text)?.[1] ?? Number.NaN)
const unitsLeft = (exchanged: Exchange): number => number(exchanged, /^x-cu-remaining: (\d+)\r$/m)
const requestsLeft = (exchanged: Exchange): number => number(exchanged, /"rate";r=(\d+)/)

const get = (path: string, apiKey: string, more = '', version = '1.1'): string =>
  `GET ${path} HTTP/${version}\r\nhost: x\r\nx-api-key: ${apiKey}\r\n${more}\r\n`

for (const kind of ['tokens', 'pairs'] as const) {
  test(`${kind}: a repeated request gets the same response, without the framework, for the same price`, async () => {
    const { apiKey } = await newKey('usual')
    const route = kind === 'tokens' ? '/v2/tokens/:tokenId' : '/v2/pairs/:pairId'
    const counted = () => gateway.metric('chaintape_gateway_requests_total', { route, status: '200' })
    const text = get(newPath(kind), apiKey)
    const countedBefore = (await counted()) ?? 0
    const answers = [await exchange(text), await exchange(text), await exchange(text)]
    const [first, second, third] = answers as [Exchange, Exchange, Exchange]
    assert.deepEqual(
      answers.map(({ byFramework }) => byFramework),
      [1, 0, 0],
    )
    assert.match(first.text, /^HTTP\/1.1 200 OK\r\n/)
    assert.match(first.text, /^x-cu-cost: 5\r$/m)
    assert.equal(masked(second), masked(first))
    assert.equal(masked(third), masked(first))
    assert.deepEqual([unitsLeft(second), unitsLeft(third)], [unitsLeft(first) - 5, unitsLeft(first) - 10])
    assert.deepEqual(
      [requestsLeft(second), requestsLeft(third)],
      [requestsLeft(first) - 1, requestsLeft(first) - 2],
    )
    await waitUntil('all are counted', async () => (await counted()) === countedBefore + 3)
    const usage = (await gateway.get('/v2/usage', { 'x-api-key': apiKey })).body as {
      cu_used: number
      days: { operations: unknown[] }[]
    }
    assert.equal(usage.cu_used, 15)
    assert.deepEqual(
      usage.days.flatMap(({ operations }) => operations),
      [{ operation: `GET ${route}`, requests: 3, cu: 15 }],
    )
  })
}

test('however it is asked, the answer is the same', async () => {
  const { apiKey } = await newKey('usual')
  const ways: [string, (path: string) => string, number][] = [
    ['to hang up after', (path) => get(path, apiKey, 'connection: close\r\n'), 0],
    ['by an old client', (path) => get(path, apiKey, '', '1.0'), 0],
    ['by an old client that stays', (path) => get(path, apiKey, 'connection: keep-alive\r\n', '1.0'), 0],
    ['twice without waiting', (path) => get(path, apiKey) + get(path, apiKey), 0],
    [
      'with something between',
      (path) => get(path, apiKey) + get('/v2/chains', apiKey) + get(path, apiKey),
      1,
    ],
    ['with an expectation', (path) => get(path, apiKey, 'expect: 100-continue\r\n'), 0],
    ['from a page', (path) => get(path, apiKey, 'origin: https://example.org\r\n'), 0],
    ['with an empty query', (path) => get(`${path}?`, apiKey), 0],
    ['with a body', (path) => `${get(path, apiKey, 'content-length: 2\r\n')}{}`, 1],
    ['with a body in chunks', (path) => `${get(path, apiKey, 'transfer-encoding: chunked\r\n')}0\r\n\r\n`, 1],
  ]
  for (const [way, textOf, byFramework] of ways) {
    const text = textOf(newPath())
    const first = await exchange(text)
    const second = await exchange(text)
    assert.match(first.text, /HTTP\/1.1 200 OK\r\n/, way)
    assert.equal(second.byFramework, byFramework, way)
    assert.equal(masked(second), masked(first), way)
  }
})

test('the fast path serves no request that the framework refuses', async () => {
  const { apiKey } = await newKey('usual')
  const path = newPath()
  await exchange(get(path, apiKey))
  assert.equal((await exchange(get(path, apiKey))).byFramework, 0)
  const refused: [string, (path: string) => string, RegExp][] = [
    ['no key', (at) => `GET ${at} HTTP/1.1\r\nhost: x\r\n\r\n`, /^HTTP\/1.1 401 /],
    ['another key', (at) => get(at, `${apiKey.slice(0, -1)}_`), /^HTTP\/1.1 401 /],
    ['two keys', (at) => get(at, apiKey, `x-api-key: ${apiKey}\r\n`), /^HTTP\/1.1 401 /],
    ['a query', (at) => get(`${at}?a=1`, apiKey), /^HTTP\/1.1 400 /],
    ['no host', (at) => get(at, apiKey).replace('host: x\r\n', ''), /^HTTP\/1.1 400 /],
    ['HEAD', (at) => get(at, apiKey).replace('GET', 'HEAD'), /^HTTP\/1.1 40[04] /],
    ['POST', (at) => get(at, apiKey).replace('GET', 'POST'), /^HTTP\/1.1 40[04] /],
  ]
  for (const [what, textOf, status] of refused) {
    const asked = await exchange(textOf(path))
    assert.match(asked.text, status, what)
    assert.equal(masked(asked), masked(await exchange(textOf(newPath()))), what)
  }
})

test('a revoked key is refused although its answer is ready', async () => {
  const { id, apiKey } = await newKey('usual')
  const text = get(newPath(), apiKey)
  await exchange(text)
  assert.match((await exchange(text)).text, /^HTTP\/1.1 200 /)
  await keys.revoke(id)
  await waitUntil('it is refused', async () => /^HTTP\/1.1 403 /.test((await exchange(text)).text))
  assert.equal(masked(await exchange(text)), masked(await exchange(get(newPath(), apiKey))))
})

test('units that are used up are refused, and nothing is taken twice', async () => {
  const { apiKey } = await newKey('poor')
  const text = get(newPath(), apiKey)
  const answers = [await exchange(text), await exchange(text), await exchange(text), await exchange(text)]
  assert.deepEqual(
    answers.map((each) => each.text.slice(9, 12)),
    ['200', '200', '429', '429'],
  )
  assert.deepEqual(answers.map(unitsLeft), [7, 2, 2, 2])
  assert.match(answers[2]?.text ?? '', /"code":"quota_exhausted"/)
  const left = answers.map(requestsLeft)
  assert.deepEqual(
    left.map((each) => (left[0] ?? 0) - each),
    [0, 1, 2, 3],
  )
})

test('a client that is too fast is refused, and not charged', async () => {
  const [other, { apiKey }] = [await newKey('usual'), await newKey('slow')]
  const path = newPath()
  await exchange(get(path, other.apiKey))
  // The first has to wait for units. Then two at once, and none for a second: what comes on one connection is fast enough.
  await exchange(get(path, apiKey, 'connection: close\r\n'))
  const burst = await exchange(get(path, apiKey).repeat(4))
  // Where a plan is this small a gateway leases one at a time: the framework waits for the second one.
  assert.ok(burst.byFramework <= 1)
  assert.deepEqual(
    [...burst.text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status),
    ['200', '200', '429', '429'],
  )
  assert.match(burst.text, /"code":"rate_limited"/)
  await waitUntil('the bucket holds one again', async () => {
    const usage = await gateway.get('/v2/usage', { 'x-api-key': apiKey })
    return usage.status === 200 && (usage.body as { cu_used: number }).cu_used === 15
  })
})

test('a ready answer is dropped when what it was made from changes', async () => {
  const { apiKey } = await newKey('usual')
  const text = get(newPath(), apiKey)
  const symbols: (string | undefined)[] = []
  const byFramework: number[] = []
  for (const symbol of ['ONE', 'TWO']) {
    await gateway.applied(await world.publish([{ type: 'token', token: sampleToken({ symbol }) }]))
    for (const asked of [await exchange(text), await exchange(text)]) {
      symbols.push(/"symbol":"(\w+)"/.exec(asked.text)?.[1])
      byFramework.push(asked.byFramework)
    }
  }
  assert.deepEqual(symbols, ['ONE', 'ONE', 'TWO', 'TWO'])
  assert.deepEqual(byFramework, [1, 0, 1, 0])
})

test('a closing gateway answers on an open connection, also what it has cached, and closes it', async () => {
  const closing = await world.startGateway(PLANS)
  await waitUntil('it answers', async () => (await closing.get(`/v2/tokens/${MEME}-eth`)).status === 200)
  const socket = connect({ host: '127.0.0.1', port: closing.port })
  await once(socket, 'connect')
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk
  })
  const text = get(`/v2/tokens/${MEME}-eth`, API_KEY)
  // Not idle any more, so it is waited for.
  socket.write(text.slice(0, -2))
  const before = handled
  const stopped = closing.stop()
  await waitUntil('nobody is let in', async () => {
    return closing.get('/v2/status').then(
      () => false,
      () => true,
    )
  })
  socket.write(text.slice(-2))
  await Promise.all([once(socket, 'close'), stopped])
  assert.match(received, /^HTTP\/1.1 200 /)
  assert.match(received, /^connection: close\r$/im)
  assert.equal(handled, before + 1, 'by Fastify, which closes the connection')
})
