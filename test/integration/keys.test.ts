import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatApiKey } from '../../src/domain/api-key.ts'
import { digestOf, encodeKeyRecord } from '../../src/gateway/access/keys/key-record.ts'
import { createKeyStore, type KeyStore } from '../../src/gateway/access/keys/key-store.ts'
import type { LatestValues } from '../../src/log/latest-values.ts'
import { MEME_WETH, samplePair } from '../support/builders/market-samples.ts'
import { problemOf } from '../support/rigs/gateway-answers.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

const PAIR_PATH = `/v2/pairs/${MEME_WETH}-eth`
const USAGE_PATH = '/v2/usage'
const PLANS = {
  small: {
    requests_per_second: 2,
    burst: 5,
    cu_per_month: 1_000,
    sockets: { connections: 2, subscriptions: 1, price_ids: 2, messages_per_second: 6, message_bytes: 1_024 },
  },
}

let world: GatewayWorld
let gateways: Gateway[]
let values: LatestValues
let store: KeyStore

before(async () => {
  world = await GatewayWorld.start()
  await world.publish([{ type: 'pair', pair: samplePair() }])
  gateways = await Promise.all([world.startGateway(PLANS), world.startGateway(PLANS)])
  values = await world.logs.openLatest('KEYS')
  store = createKeyStore(values, Date.now)
})

after(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.stop()))
  await world?.stop()
})

const seconds = (): number => Math.floor(Date.now() / 1_000)
const withKey = (apiKey: string): Record<string, string> => ({ 'x-api-key': apiKey })
const first = (): Gateway => gateways[0] as Gateway

async function statusesOf(apiKey: string): Promise<number[]> {
  return Promise.all(gateways.map(async (gateway) => (await gateway.get(USAGE_PATH, withKey(apiKey))).status))
}

/** Waits until every gateway answers so; gives the milliseconds it took. */
async function msUntil(status: number, apiKey: string): Promise<number> {
  const started = performance.now()
  await waitUntil(`${status} everywhere`, async () =>
    (await statusesOf(apiKey)).every((each) => each === status),
  )
  return performance.now() - started
}

test('a new key is good on every gateway at once, and a revoked one on none within a second', async () => {
  const { record, apiKey } = await store.create({ name: 'one', plan: 'default' })
  assert.ok((await msUntil(200, apiKey)) < 1_000)
  const sockets = await Promise.all(gateways.map((gateway) => gateway.connect(withKey(apiKey))))
  const started = performance.now()
  await store.revoke(record.id)
  const closed = await Promise.all(sockets.map((socket) => socket.closed))
  assert.ok(performance.now() - started < 1_000, `closed after ${performance.now() - started} ms`)
  assert.deepEqual(closed, Array(2).fill([4403, 'the API key has expired or was revoked']))
  assert.ok((await msUntil(403, apiKey)) < 1_000)
  const { http, code, detail } = problemOf(
    await first().get(USAGE_PATH, withKey(apiKey)),
  ) as unknown as Record<string, unknown>
  assert.deepEqual([http, code, detail], [403, 'forbidden', 'the API key has expired or was revoked'])
  // A second time changes nothing, not even the time.
  assert.deepEqual(await store.revoke(record.id), await store.get(record.id))
})

test('an expired key is refused with 403, and its sockets are closed', async () => {
  const { apiKey } = await store.create({ name: 'brief', plan: 'default', expiresAt: seconds() + 3 })
  await msUntil(200, apiKey)
  const socket = await first().connect(withKey(apiKey))
  assert.equal((await socket.closed)[0], 4403)
  assert.deepEqual(await statusesOf(apiKey), [403, 403])
  const late = await first().connect({})
  assert.deepEqual(await late.request(0, 'auth', [apiKey]), {
    jsonrpc: '2.0',
    id: 0,
    error: {
      code: -32001,
      message: 'the API key has expired or was revoked',
      data: { pointer: '/params/0' },
    },
  })
  assert.equal((await late.closed)[0], 4401)
})

test('rotated: the new key is good, the former one for the grace only', async () => {
  const { record, apiKey } = await store.create({ name: 'turning', plan: 'default' })
  const second = await store.rotate(record.id, 2)
  await msUntil(200, second.apiKey)
  assert.deepEqual(await statusesOf(apiKey), [200, 200])
  await sleep(2_100)
  assert.deepEqual(await statusesOf(apiKey), [403, 403])
  assert.deepEqual(await statusesOf(second.apiKey), [200, 200])
  const third = await store.rotate(record.id, 0)
  await msUntil(200, third.apiKey)
  // Nobody remembers it any more.
  assert.deepEqual(await statusesOf(second.apiKey), [401, 401])
  assert.equal(third.record.secrets.length, 1)
  await store.revoke(record.id)
  await assert.rejects(store.rotate(record.id, 0), { code: 'unknown_key' })
  for (const id of ['nobody', '', '*', '>', 'a.b'])
    await assert.rejects(store.get(id), { code: 'unknown_key' })
})

test('two operators at once lose nothing', async () => {
  const { record } = await store.create({ name: 'contested', plan: 'default' })
  await Promise.allSettled([
    store.revoke(record.id),
    ...Array.from({ length: 5 }, () => store.rotate(record.id, 60)),
  ])
  const end = await store.get(record.id)
  assert.ok(end.revoked_at !== undefined)
  assert.ok((await store.list()).some(({ id }) => id === record.id))
})

test('an unreadable record affects no other key', async () => {
  await values.put('broken', Buffer.from('{"sha256":"secret"'))
  const { apiKey } = await store.create({ name: 'after it', plan: 'default' })
  await msUntil(200, apiKey)
  const line = first().logLines.find((each) => each.includes('API key record unreadable'))
  assert.ok(line?.includes('"code":"message_unreadable"') && !line.includes('secret'))
})

test('missing, malformed, unknown, expired, revoked: the time to refuse is the same', async () => {
  const expired = formatApiKey(new Uint8Array(32).fill(7))
  const record = { id: 'expired00000', name: '', plan: 'default', created_at: 0, expires_at: 1 }
  const secrets = [{ sha256: digestOf(expired) }]
  await values.put(record.id, encodeKeyRecord({ ...record, secrets }))
  await msUntil(403, expired)
  const given: Record<string, Record<string, string>> = {
    missing: {},
    malformed: withKey('x'),
    unknown: withKey(formatApiKey(new Uint8Array(32).fill(9))),
    expired: withKey(expired),
  }
  const times = Object.fromEntries(Object.keys(given).map((kind) => [kind, [] as number[]]))
  for (let round = 0; round < 150; round++) {
    // In turns, so that a slow moment of the machine meets all of them.
    for (const [kind, headers] of Object.entries(given)) {
      const started = performance.now()
      await first().get(PAIR_PATH, headers)
      times[kind]?.push(performance.now() - started)
    }
  }
  const medians = Object.values(times).map((all) => all.sort((a, b) => a - b)[75] ?? 0)
  const spread = Math.max(...medians) - Math.min(...medians)
  assert.ok(spread < 0.3 * Math.min(...medians) + 0.1, `medians in ms: ${medians.join(', ')}`)
})

test('every response has cost, balance and limits', async () => {
  const { apiKey } = await store.create({ name: 'reported', plan: 'small' })
  await msUntilKnown(apiKey)
  const { headers } = await first().get(PAIR_PATH, withKey(apiKey))
  const now = new Date()
  const reset = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1_000
  const days = (reset - Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / 1_000) / 86_400
  assert.deepEqual(
    [headers['x-cu-cost'], headers['x-cu-remaining'], headers['x-cu-reset']],
    ['5', '995', `${reset}`],
  )
  assert.equal(headers['ratelimit-policy'], `"rate";q=5;w=3, "cu";q=1000;w=${days * 86_400}`)
  const [, left, refill, cu, untilReset] =
    /^"rate";r=(\d);t=(\d+), "cu";r=(\d+);t=(\d+)$/.exec(headers['ratelimit'] ?? '') ?? []
  assert.ok(Number(left) < 5 && Number(refill) >= 1 && Number(refill) <= 3, headers['ratelimit'])
  assert.equal(cu, '995')
  assert.ok(Math.abs(Number(untilReset) - (reset - Date.now() / 1_000)) < 5)
  const failed = await first().get('/v2/pairs/nonsense', withKey(apiKey))
  assert.deepEqual([failed.headers['x-cu-cost'], failed.headers['x-cu-remaining']], ['0', '995'])
})

/** Without using up a small plan's requests. */
async function msUntilKnown(apiKey: string): Promise<void> {
  await waitUntil('the key is known', async () => {
    try {
      const socket = await first().connect(withKey(apiKey))
      await socket.close()
      return true
    } catch {
      // Refused with 401: not known yet.
      return false
    }
  })
}

test('429 for what is faster than the plan, with the time to wait', async () => {
  const { apiKey } = await store.create({ name: 'hasty', plan: 'small' })
  await msUntilKnown(apiKey)
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => first().get(USAGE_PATH, withKey(apiKey))),
  )
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length >= 20 && refused.length <= 25, `${refused.length} were refused`)
  for (const { body, headers } of refused) {
    assert.equal((body as { code: string }).code, 'rate_limited')
    assert.equal(headers['retry-after'], '1')
    assert.equal(headers['x-cu-cost'], '0')
  }
  await sleep(1_100)
  assert.equal((await first().get(USAGE_PATH, withKey(apiKey))).status, 200)
})

test('sockets are limited by the plan of their key', async () => {
  const { apiKey } = await store.create({ name: 'talker', plan: 'small' })
  await msUntilKnown(apiKey)
  const [a, b] = await Promise.all([first().connect(withKey(apiKey)), first().connect({})])
  assert.deepEqual(((await b.request(0, 'auth', [apiKey])) as { result: unknown }).result, {
    status: 'ok',
    action: 'auth',
    params: [],
  })
  await assert.rejects(first().connect(withKey(apiKey)), /400/)
  const third = await first().connect({})
  const limit = { limit: 'connections', max: 2 }
  const message = 'the key already has 2 connections; close one first'
  assert.deepEqual(await third.request(0, 'auth', [apiKey]), {
    jsonrpc: '2.0',
    id: 0,
    error: { code: -32002, message, data: limit },
  })
  assert.deepEqual(await third.closed, [4429, 'too many connections'])
  const ids = [1, 2, 3].map((digit) => `0x${String(digit).repeat(40)}-eth`)
  const tooMany = (await a.request(1, 'subscribe', ['price', ids])) as {
    error: { code: number; data: unknown }
  }
  assert.deepEqual([tooMany.error.code, tooMany.error.data], [-32002, { limit: 'price_ids', max: 2 }])
  await a.request(2, 'subscribe', ['tx', MEME_WETH, 'eth'])
  const second = (await a.request(3, 'subscribe', ['kline', MEME_WETH, 'k1', 'eth'])) as {
    error: { data: unknown }
  }
  assert.deepEqual(second.error.data, { limit: 'subscriptions', max: 1 })
  const answers = Array.from({ length: 10 }, (_, i) => b.request(i, 'ping', []))
  const limited = (await Promise.all(answers)).filter((answer) => 'error' in (answer as object))
  assert.ok(limited.length >= 3 && limited.length <= 5, `${limited.length} were refused`)
  a.send('x'.repeat(1_025))
  assert.deepEqual(await a.closed, [1009, 'message too large'])
  // Its place is free again.
  await (await first().connect(withKey(apiKey))).close()
  await b.close()
})

test('usage: by day and operation, of the key that asks only', async () => {
  const [mine, other] = await Promise.all(
    ['mine', 'other'].map((name) => store.create({ name, plan: 'default' })),
  )
  assert.ok(mine !== undefined && other !== undefined)
  await Promise.all([msUntil(200, mine.apiKey), msUntil(200, other.apiKey)])
  const before = await usageOf(mine.apiKey)
  for (const gateway of gateways) {
    for (let i = 0; i < 3; i++) await gateway.get(PAIR_PATH, withKey(mine.apiKey))
    await gateway.get('/v2/pairs/nonsense', withKey(mine.apiKey))
  }
  await first().get(PAIR_PATH, withKey(other.apiKey))
  await waitUntil(
    'both gateways have reported usage',
    async () => (await usageOf(mine.apiKey)).pairs.requests === 6,
  )
  const usage = await usageOf(mine.apiKey)
  assert.deepEqual(usage.pairs, { operation: 'GET /v2/pairs/:pairId', requests: 6, cu: 30 })
  assert.deepEqual([before.cu_used, usage.cu_used, usage.cu_limit - usage.cu_remaining], [0, 30, 30])
  const past = (await first().get('/v2/usage?month=2020-01', withKey(mine.apiKey))).body
  assert.deepEqual(past, { plan: 'default', month: '2020-01', cu_limit: 1_000_000_000, cu_used: 0, days: [] })
  assert.equal((await first().get('/v2/usage?month=never', withKey(mine.apiKey))).status, 400)
})

async function usageOf(apiKey: string) {
  type Row = { readonly operation: string; readonly requests: number; readonly cu: number }
  const body = (await first().get(USAGE_PATH, withKey(apiKey))).body as {
    readonly cu_used: number
    readonly cu_limit: number
    readonly cu_remaining: number
    readonly days: readonly { readonly operations: readonly Row[] }[]
  }
  const rows = body.days.flatMap(({ operations }) => operations)
  const pairs = rows.find(({ operation }) => operation.includes('pairs'))
  return { ...body, pairs: pairs ?? { operation: '', requests: 0, cu: 0 } }
}

test('keys and usage outlive NATS, and gateways find them again', async () => {
  const { record, apiKey } = await store.create({ name: 'durable', plan: 'default' })
  await msUntil(200, apiKey)
  await world.stack.kill('nats')
  assert.deepEqual(
    await Promise.all(
      gateways.map(async (gateway) => (await gateway.get(PAIR_PATH, withKey(apiKey))).status),
    ),
    [200, 200],
  )
  await world.stack.restart('nats')
  await waitUntil('the key is revoked', async () => {
    try {
      return (await store.revoke(record.id)).revoked_at !== undefined
    } catch {
      // Not connected again yet.
      return false
    }
  })
  assert.ok((await msUntil(403, apiKey)) < 5_000)
})
