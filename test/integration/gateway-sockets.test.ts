import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { MEME_WETH, samplePair } from '../support/builders/market-samples.ts'
import { API_KEY, type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

let world: GatewayWorld
let gateway: Gateway

const TX = ['tx', MEME_WETH, 'eth']
const KLINE = ['kline', MEME_WETH, 'k15', 'eth']

before(async () => {
  world = await GatewayWorld.start()
  await world.publish([{ type: 'pair', pair: samplePair() }])
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

const ack = (id: number, action: string, params: unknown) => ({
  jsonrpc: '2.0',
  id,
  result: { status: 'ok', action, params },
})
const failure = (id: number | null, code: number, message: string, data?: object) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
})

test('20 messages a second, what is more is refused', async () => {
  const client = await gateway.connect()
  const sent = 200
  for (let id = 1; id <= sent; id++) client.send({ jsonrpc: '2.0', id, method: 'ping', params: [] })
  const answers = (await client.take(sent)) as { id: number; result?: string }[]
  // Refusals may overtake answers.
  answers.sort((a, b) => a.id - b.id)
  const isServed = (index: number): boolean => answers[index]?.result !== undefined
  const expected = answers.map((_, index) =>
    isServed(index)
      ? { jsonrpc: '2.0', id: index + 1, result: 'pong' }
      : failure(index + 1, -32004, 'too many messages; slow down'),
  )
  assert.deepEqual(answers, expected)
  const served = answers.flatMap((_, index) => (isServed(index) ? [index + 1] : []))
  assert.deepEqual(
    served.slice(0, 20),
    Array.from({ length: 20 }, (_, index) => index + 1),
  )
  assert.ok(served.length < 100, `${served.length} were served`)
  await client.close()
})

test('a message above 64 KiB, and one in too many fragments, end the connection', async () => {
  const large = await gateway.connect()
  large.send('x'.repeat(64 * 1_024 + 1))
  assert.deepEqual((await large.closed)[0], 1009)
  const shredded = await gateway.connect()
  shredded.socket.on('error', () => undefined)
  for (let i = 0; i < 40; i++) shredded.socket.send('x', { fin: false })
  assert.deepEqual((await shredded.closed)[0], 1008)
})

test('auth: by header, or as the first message', async () => {
  const late = await gateway.connect({})
  assert.deepEqual(
    await late.request(1, 'subscribe', TX),
    failure(1, -32001, 'send auth first', { method: 'subscribe' }),
  )
  assert.deepEqual(await late.request(0, 'auth', [API_KEY]), ack(0, 'auth', []))
  assert.deepEqual(await late.request(2, 'subscribe', TX), ack(2, 'subscribe', TX))
  const wrong = await gateway.connect({})
  assert.deepEqual(
    await wrong.request(0, 'auth', ['wrong']),
    failure(0, -32001, 'the API key is invalid', { pointer: '/params/0' }),
  )
  assert.deepEqual(await wrong.closed, [4401, 'invalid API key'])
  const silent = await gateway.connect({})
  const openedAt = Date.now()
  assert.deepEqual(await silent.closed, [4401, 'not authenticated in time'])
  assert.ok(Math.abs(Date.now() - openedAt - 5_000) < 1_000)
  assert.deepEqual(await late.request(3, 'ping', []), { jsonrpc: '2.0', id: 3, result: 'pong' })
  await late.close()
})

test('upgrades that are refused before the socket opens', async () => {
  const refusal = async (path: string, headers: Record<string, string>) => {
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, { headers })
    const [, response] = await once(socket, 'unexpected-response')
    const chunks = (await response.toArray()) as Buffer[]
    const { status, code } = JSON.parse(Buffer.concat(chunks).toString()) as { status: number; code: string }
    return [response.statusCode, response.headers['content-type'], status, code]
  }
  const type = 'application/problem+json; charset=utf-8'
  assert.deepEqual(await refusal('/ws', { 'x-api-key': 'wrong' }), [401, type, 401, 'unauthorized'])
  assert.deepEqual(await refusal('/ws', { 'x-api-key': '' }), [401, type, 401, 'unauthorized'])
  const query = `/ws?X-API-KEY=${API_KEY}`
  assert.deepEqual(await refusal(query, {}), [400, type, 400, 'malformed_request'])
  assert.deepEqual(await refusal('/other', { 'x-api-key': API_KEY }), [404, type, 404, 'not_found'])
})

test('a client that disconnects at any moment affects no other', async () => {
  for (const text of [
    'GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    'GET /ws HTTP/1.1\r\n',
  ]) {
    const socket = connect(gateway.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(text)
    socket.destroy()
  }
  const client = await gateway.connect()
  client.send({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: KLINE })
  client.socket.terminate()
  await waitUntil(
    'all sockets are gone',
    async () => (await gateway.metric('chaintape_gateway_sockets')) === 0,
  )
  assert.equal(await gateway.metric('chaintape_gateway_subscriptions'), 0)
})

test('a shutdown is announced and closes with 1001', async () => {
  const other = await world.startGateway()
  const client = await other.connect()
  const stopping = other.stop()
  const { params, ...notice } = (await client.next()) as { params: { reconnect_after_ms: number }[] }
  assert.deepEqual(notice, { jsonrpc: '2.0', method: 'shutdown' })
  assert.equal(params.length, 1)
  const after = params[0]?.reconnect_after_ms ?? -1
  assert.ok(Number.isInteger(after) && after >= 0 && after <= 5_000, `${after}`)
  assert.deepEqual(await client.closed, [1001, 'shutting down'])
  await stopping
})
