import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { WebSocket } from 'ws'
import { ask, PAIR_PATH, QuotaWorld } from './quota-world.ts'

let world: QuotaWorld

before(async () => {
  world = await QuotaWorld.start({
    gateway: { port: 0, lease_cu: 10 },
    plans: { narrow: { requests_per_second: 1_000, burst: 1_000, cu_per_month: 1_000 } },
    // Everything that could ever be logged.
    log_level: 'trace',
  })
  await world.startGateways(2)
})

after(() => world?.stop())

/** The forms in which a secret could have slipped through, and a stretch of it long enough to be of use. */
function tracesOf(apiKey: string): string[] {
  const digest = createHash('sha256').update(apiKey).digest()
  const body = apiKey.slice(4, 34)
  return [
    ...[apiKey, body, body.slice(0, 15), body.slice(15), apiKey.slice(-16)],
    ...[encodeURIComponent(apiKey), Buffer.from(apiKey).toString('base64').slice(4, 40)],
    ...[Buffer.from(apiKey).toString('hex'), digest.toString('hex'), digest.toString('hex').slice(0, 16)],
    ...[digest.toString('base64').slice(0, 40), digest.toString('base64url').slice(0, 40)],
  ]
}

function findTraces(apiKey: string, text: string): string[] {
  return tracesOf(apiKey).filter((trace) => text.toLowerCase().includes(trace.toLowerCase()))
}

/** Sends bytes as they are; gives all that came back. */
async function raw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(text)
  return Buffer.concat((await socket.toArray()) as Buffer[]).toString()
}

/** Opens a socket, says these things, and gives all that was answered. */
async function converse(url: string, path: string, headers: Record<string, string>, messages: unknown[]) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
  const heard: string[] = []
  socket.on('message', (data) => heard.push(String(data)))
  socket.on('error', () => undefined)
  socket.on('unexpected-response', async (_request, response) => {
    heard.push(Buffer.concat(await response.toArray()).toString())
    socket.terminate()
  })
  socket.on('open', () => {
    for (const message of messages)
      socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    setTimeout(() => socket.close(), 100)
  })
  return new Promise<string>((resolve) => {
    socket.once('close', (code, reason) => resolve(`${heard.join('\n')}\n${code} ${reason}`))
  })
}

const rpc = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })

/** Every way to use a key, right and wrong; gives everything that came back. */
async function useEverywhere(apiKey: string): Promise<string> {
  const answers: string[] = []
  const keep = async (response: Response): Promise<void> => {
    answers.push(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`)
  }
  const misspelt = apiKey.slice(0, -1) + (apiKey.endsWith('0') ? '1' : '0')
  for (const { url } of world.gateways) {
    for (const given of [apiKey, misspelt, `${apiKey} `, `Bearer ${apiKey}`, apiKey.repeat(300)]) {
      for (const path of [PAIR_PATH, '/v2/usage', '/v2/pairs/nonsense', '/v2/nowhere', '/ws']) {
        await keep(await fetch(`${url}${path}`, { headers: { 'x-api-key': given } }))
      }
      const headers = { 'x-api-key': given, 'content-type': 'application/json' }
      const body = JSON.stringify({ token_ids: [given.slice(0, 60)], api_key: apiKey })
      await keep(await fetch(`${url}/v2/tokens/price`, { method: 'POST', headers, body }))
      answers.push(await converse(url, '/ws', { 'x-api-key': given }, [rpc('ping')]))
    }
    await keep(await fetch(`${url}${PAIR_PATH}`, { headers: { authorization: `Bearer ${apiKey}` } }))
    const good = { headers: { 'x-api-key': apiKey } }
    for (const path of [
      `${PAIR_PATH}?x-api-key=${apiKey}`,
      `/v2/usage?month=${apiKey}`,
      `/v2/usage?${apiKey}=1`,
    ]) {
      await keep(await fetch(`${url}${path}`))
      await keep(await fetch(`${url}${path}`, good))
    }
    for (const path of [
      `/v2/pairs/${apiKey}-eth`,
      `/v2/tokens/${apiKey}`,
      `/v2/%ZZ${apiKey}`,
      `/${apiKey}`,
    ]) {
      await keep(await fetch(`${url}${path}`, good))
    }
    const auths = [[apiKey], [misspelt], [apiKey, apiKey], [{ key: apiKey }], []]
    answers.push(
      ...(await Promise.all(auths.map((params) => converse(url, '/ws', {}, [rpc('auth', ...params)])))),
    )
    answers.push(await converse(url, `/ws?X-API-KEY=${apiKey}`, {}, []))
    answers.push(await converse(url, `/${apiKey}`, {}, []))
    const wrong = [
      rpc('subscribe', 'tx', apiKey, 'eth'),
      rpc('subscribe', 'kline', apiKey, apiKey, apiKey),
      rpc('subscribe', 'price', [apiKey, `${apiKey}-eth`]),
      rpc(apiKey),
      `{"jsonrpc":"2.0","method":"auth","params":["${apiKey}`,
    ]
    answers.push(await converse(url, '/ws', { 'x-api-key': apiKey }, wrong))
    for (const text of [
      `GET ${apiKey} HTTP/1.1\r\nx-api-key: ${apiKey}\r\n\r\n`,
      `GET ${PAIR_PATH} HTTP/1.1\r\nx-api-key ${apiKey}\r\n\r\n`,
      `${apiKey}\r\n\r\n`,
    ]) {
      answers.push(await raw(url, text))
    }
  }
  return answers.join('\n')
}

async function metricsPages(): Promise<string> {
  const pages = world.gateways.flatMap(({ adminUrl }) =>
    ['/metrics', '/readyz', '/healthz', '/nothing'].map(async (path) =>
      (await fetch(`${adminUrl}${path}`)).text(),
    ),
  )
  return (await Promise.all(pages)).join('\n')
}

async function redisDump(): Promise<string> {
  const redis = new Redis(world.stack.redisUrl)
  try {
    const parts: string[] = []
    for (const name of await redis.keys('*')) {
      const type = await redis.type(name)
      parts.push(name, JSON.stringify(type === 'hash' ? await redis.hgetall(name) : await redis.dump(name)))
    }
    // So that a dump of nothing does not pass.
    assert.ok(
      parts.some((part) => part.includes(':quota:')),
      parts.join('\n'),
    )
    return parts.join('\n')
  } finally {
    redis.disconnect()
  }
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
}

test('a canary key is found nowhere, and its digest only where keys are kept', async () => {
  const { apiKey, id } = await world.createKey('narrow')
  const answers = await useEverywhere(apiKey)
  assert.match(answers, /^200 /m)
  assert.match(answers, /"status":401/)
  // Errors while Redis is gone: they are the ones that carry causes. What was not asked for before is not kept.
  await world.stack.kill('redis', 'SIGSTOP')
  const hung = await ask(world.gateway(0), apiKey, PAIR_PATH.replace(/0x[0-9a-f]{8}/, '0xffffffff'))
  assert.equal(hung.status, 500)
  await world.stack.kill('redis', 'SIGCONT')
  await world.keys('list')
  await world.keys('show-usage', id)
  const rotated = (await world.keys('rotate', id)).stdout
  await ask(world.gateway(0), rotated)
  await world.keys('revoke', id)
  await sleep(1_000)
  const refused = await ask(world.gateway(0), apiKey)
  assert.deepEqual([refused.status, refused.code], [403, 'forbidden'])
  await world.keys('rotate', id)
  await sleep(1_500)

  const nats = filesUnder(world.stack.dataDir).filter((file) => file.includes('/nats/'))
  const inKeys = (file: string): boolean => file.includes('quotatest_KEYS')
  const read = (files: readonly string[]): string =>
    files.map((file) => readFileSync(file, 'latin1')).join('\n')
  // Each key was printed once, by the command that made it; that is what is taken out here.
  const printed = world.printed.filter((text) => ![apiKey, rotated].includes(text.trim())).join('\n')
  const places = {
    answers: `${answers}\n${JSON.stringify([hung.body, refused.body])}`,
    logs: world.logs(),
    metrics: await metricsPages(),
    printed,
    redis: await redisDump(),
    'redis log': readFileSync(join(world.stack.dataDir, 'redis.log'), 'utf8'),
    'nats, usage and changes': read(nats.filter((file) => !inKeys(file))),
    'nats log': readFileSync(join(world.stack.dataDir, 'nats.log'), 'utf8'),
  }
  assert.ok(places.logs.includes('"level":'), 'nothing was logged at all')
  for (const key of [apiKey, rotated]) {
    for (const [place, text] of Object.entries(places))
      assert.deepEqual([place, findTraces(key, text)], [place, []])
    const kept = read(nats.filter(inKeys))
    assert.ok(
      kept.includes(createHash('sha256').update(key).digest('hex')),
      'the scan does not see what is there',
    )
    assert.deepEqual(
      tracesOf(key)
        .slice(0, 8)
        .filter((trace) => kept.includes(trace)),
      [],
    )
  }
})

test('health and metrics are not on the public port', async () => {
  const { apiKey } = await world.createKey('narrow')
  for (const path of ['/metrics', '/readyz', '/healthz', '/v2/keys', '/keys', '/admin']) {
    const { status } = await ask(world.gateway(0), apiKey, path)
    assert.equal(status, 404, path)
  }
  assert.equal((await fetch(`${world.gateway(0).adminUrl}/metrics`)).status, 200)
})
