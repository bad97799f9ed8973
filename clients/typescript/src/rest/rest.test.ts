import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { ApiError, ConnectionError, DeadlineError, isApiError } from '../errors.ts'
import { createRest } from './rest.ts'

type Reply = { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown }
type Seen = { readonly method: string; readonly url: string; readonly key: unknown; readonly body: string }

const servers: Server[] = []
after(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that gives these replies in turn, the last one again and again; `hang` and `reset` are failures. */
async function serve(...replies: (Reply | 'hang' | 'reset')[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    seen.push({
      method: request.method ?? '',
      url: request.url ?? '',
      key: request.headers['x-api-key'],
      body,
    })
    const reply = replies.length > 1 ? replies.shift() : replies[0]
    if (reply === 'reset') request.socket.destroy()
    if (reply === undefined || typeof reply === 'string') return
    const type = reply.status === undefined ? 'application/json' : 'application/problem+json'
    response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers })
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? []))
  }
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

function problem(status: number, code: string, headers: Record<string, string> = {}): Reply {
  const body = { type: `urn:${code}`, title: code, status, detail: 'the detail', instance: 'request-1', code }
  return { status, headers, body }
}

test('an operation is sent as the interface describes it', async () => {
  const { url, seen } = await serve({ body: [] })
  const rest = createRest({ url: `${url}/`, key: 'secret' })
  await rest.keywordSearch({ keyword: 'a b&c', limit: 5, chain: undefined })
  await rest.pairKlines('0xAB-eth', { interval: 'k5', fill: true })
  await rest.pairKlines('0xAB-eth')
  await rest.tokenPrices({ token_ids: ['x-eth'], tvl_min: 0 })
  await rest.status()
  assert.deepEqual(seen, [
    { method: 'GET', url: '/v2/tokens?keyword=a+b%26c&limit=5', key: 'secret', body: '' },
    { method: 'GET', url: '/v2/klines/pair/0xAB-eth?interval=k5&fill=true', key: 'secret', body: '' },
    { method: 'GET', url: '/v2/klines/pair/0xAB-eth', key: 'secret', body: '' },
    { method: 'POST', url: '/v2/tokens/price', key: 'secret', body: '{"token_ids":["x-eth"],"tvl_min":0}' },
    { method: 'GET', url: '/v2/status', key: 'secret', body: '' },
  ])
})

test('the headers of a response are exposed', async () => {
  const headers = {
    ...{ 'x-cu-cost': '10', 'x-cu-remaining': '990', 'x-cu-reset': '1769904000' },
    ...{ ratelimit: '"rate";r=99;t=1, "cu";r=990;t=86400', 'x-block': '12', 'x-lag-ms': '850' },
    ...{ 'x-cursor': 'c1.x', 'x-pending-ids': 'a-eth, b-eth', 'x-holders-complete': 'false' },
  }
  const { url } = await serve({ headers, body: [1] })
  const { data, meta } = await createRest({ url }).chains().withMeta()
  assert.deepEqual(data, [1])
  assert.deepEqual(
    [meta.cuCost, meta.cuRemaining, meta.cuReset, meta.block, meta.blockTime, meta.lagMs, meta.cursor],
    [10, 990, 1_769_904_000, 12, undefined, 850, 'c1.x'],
  )
  assert.deepEqual(meta.limits, {
    rate: { remaining: 99, resetSeconds: 1 },
    cu: { remaining: 990, resetSeconds: 86_400 },
  })
  assert.deepEqual([meta.pendingIds, meta.holdersComplete], [['a-eth', 'b-eth'], false])
})

test('failures that pass are retried, after the time that the gateway asks for', async () => {
  const { url, seen } = await serve(
    problem(429, 'rate_limited', { 'retry-after': '1', 'x-cu-cost': '0' }),
    problem(503, 'chain_unavailable', { 'retry-after': '0' }),
    problem(400, 'unknown_token', { 'retry-after': '0' }),
    { body: [1] },
  )
  const begun = Date.now()
  assert.deepEqual(await createRest({ url }).mainTokens({ chain: 'eth' }), [1])
  assert.equal(seen.length, 4)
  assert.ok(Date.now() - begun >= 1_000)
})

test('a refusal is not retried, and has its code', async () => {
  for (const reply of [
    problem(400, 'unknown_token'),
    problem(401, 'unauthorized'),
    problem(429, 'quota_exhausted', { 'retry-after': '86400' }),
    // A query that timed out was charged.
    problem(500, 'store_unavailable', { 'x-cu-cost': '50', 'retry-after': '0' }),
  ]) {
    const { url, seen } = await serve(reply)
    const error = await createRest({ url })
      .chains()
      .catch((caught: unknown) => caught)
    assert.ok(error instanceof ApiError)
    const { code } = reply.body as { code: 'unknown_token' }
    assert.ok(isApiError(error, code))
    assert.deepEqual([error.status, error.requestId, seen.length], [reply.status, 'request-1', 1])
    assert.match(error.message, /the detail/)
  }
  assert.equal(isApiError(new Error('other')), false)
})

test('a wait that exceeds the deadline is not begun', async () => {
  const { url, seen } = await serve(problem(429, 'rate_limited', { 'retry-after': '60' }))
  const begun = Date.now()
  const error = await createRest({ url, timeoutMs: 5_000 })
    .chains()
    .catch((caught: unknown) => caught)
  assert.ok(isApiError(error, 'rate_limited'))
  assert.deepEqual([error.retryAfterMs, seen.length], [60_000, 1])
  assert.ok(Date.now() - begun < 5_000)
})

test('a broken connection moves on to the next gateway, and the client stays there', async () => {
  const broken = await serve('reset')
  const other = await serve({ body: [1] })
  const rest = createRest({ url: [broken.url, other.url] })
  assert.deepEqual(await rest.chains(), [1])
  assert.deepEqual(await rest.chains(), [1])
  assert.deepEqual([broken.seen.length, other.seen.length], [1, 2])
})

test('without retries a broken connection is an error', async () => {
  const { url } = await serve('reset')
  await assert.rejects(createRest({ url, retries: 0 }).chains(), ConnectionError)
})

test('a deadline ends a request, and so does a signal', async () => {
  const { url } = await serve('hang')
  const rest = createRest({ url })
  await assert.rejects(rest.chains({ timeoutMs: 100 }), DeadlineError)
  const controller = new AbortController()
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 50)
  await assert.rejects(rest.chains({ signal: controller.signal }), reason)
  await assert.rejects(rest.chains({ signal: controller.signal }).withMeta(), reason)
})

test('a page of a proxy is an error with its status', async () => {
  const { url } = await serve({ status: 404, headers: { 'content-type': 'text/html' }, body: '<html>' })
  const error = await createRest({ url })
    .chains()
    .catch((caught: unknown) => caught)
  assert.ok(error instanceof ApiError)
  assert.deepEqual([error.code, error.status], ['http_404', 404])
})
