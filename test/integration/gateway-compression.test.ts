import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { type PerMessageDeflateOptions, WebSocket } from 'ws'
import { createKeyStore } from '../../src/gateway/access/keys/key-store.ts'
import { TEST_PLANS } from '../support/builders/test-key.ts'
import { TradedPair, TX } from '../support/builders/traded-pair.ts'
import { API_KEY, type Gateway, type GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

const BOMB_BYTES = 5_000_000

let traded: TradedPair
let world: GatewayWorld
let gateway: Gateway
/** A key of the plan that has it. */
let apiKey: string

before(async () => {
  traded = await TradedPair.start()
  world = traded.world
  const sockets = { ...TEST_PLANS.default.sockets, compression: true }
  gateway = await world.startGateway({ small: { ...TEST_PLANS.default, sockets } })
  const keys = createKeyStore(await world.logs.openLatest('KEYS'), Date.now)
  apiKey = (await keys.create({ name: 'compressed', plan: 'small' })).apiKey
  await waitUntil('the key is known', async () => {
    return (await gateway.get('/v2/usage', { 'x-api-key': apiKey })).status === 200
  })
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

/** The library's own client, and the very texts that it receives. */
class Reader {
  readonly texts: string[] = []
  readonly socket: WebSocket
  readonly closed: Promise<number>

  constructor(key: string | undefined, perMessageDeflate: boolean | PerMessageDeflateOptions) {
    const headers = key === undefined ? {} : { 'x-api-key': key }
    this.socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/ws`, { headers, perMessageDeflate })
    this.socket.on('message', (data) => this.texts.push(String(data)))
    this.closed = once(this.socket, 'close').then(([code]) => code as number)
  }

  static async open(key: string | undefined, deflate: boolean | PerMessageDeflateOptions): Promise<Reader> {
    const reader = new Reader(key, deflate)
    await once(reader.socket, 'open')
    return reader
  }

  get bytesRead(): number {
    return (this.socket as unknown as { readonly _socket: Socket })._socket.bytesRead
  }

  async ask(method: string, params: unknown): Promise<void> {
    const before = this.texts.length
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    await this.received(before + 1)
  }

  received(count: number): Promise<void> {
    return waitUntil(`${count} messages came`, () => this.texts.length >= count)
  }
}

async function trade(): Promise<void> {
  await gateway.applied(await world.publish(traded.trades(1)))
}

const withoutCursor = (text: string) => text.replace(/,"cursor":"[^"]+"/, '')

test('a compressed push inflates to the same bytes, with and without cursors', async () => {
  for (const params of [TX, [...TX, { cursor: true }]]) {
    const [plain, small] = [await Reader.open(apiKey, false), await Reader.open(apiKey, true)]
    assert.deepEqual([plain.socket.extensions, small.socket.extensions], ['', 'permessage-deflate'])
    for (const reader of [plain, small]) await reader.ask('subscribe', params)
    const [plainBefore, smallBefore] = [plain.bytesRead, small.bytesRead]
    for (let nth = 0; nth < 10; nth++) await trade()
    for (const reader of [plain, small]) await reader.received(11)
    assert.deepEqual(small.texts.map(withoutCursor), plain.texts.map(withoutCursor))
    const [plainBytes, smallBytes] = [plain.bytesRead - plainBefore, small.bytesRead - smallBefore]
    assert.ok(smallBytes < 0.8 * plainBytes, `${smallBytes} of ${plainBytes} bytes`)
    plain.socket.close()
    small.socket.close()
  }
})

test('without the plan, or with a window of another size, nothing is compressed', async () => {
  const other = await Reader.open(API_KEY, true)
  assert.equal(other.socket.extensions, '')
  const narrow = await Reader.open(apiKey, { serverMaxWindowBits: 9 })
  assert.equal(narrow.socket.extensions, '')
  for (const reader of [other, narrow]) {
    await reader.ask('subscribe', TX)
    await trade()
    await reader.received(2)
    reader.socket.close()
  }
})

test('a client that sends its key later has what its plan has', async () => {
  for (const [key, isSmall] of [
    [apiKey, true],
    [API_KEY, false],
  ] as const) {
    const reader = await Reader.open(undefined, true)
    assert.equal(reader.socket.extensions, 'permessage-deflate')
    await reader.ask('auth', [key])
    await reader.ask('subscribe', TX)
    const before = reader.bytesRead
    await trade()
    await reader.received(3)
    const ratio = (reader.bytesRead - before) / Buffer.byteLength(reader.texts[2] ?? '')
    assert.equal(ratio < 0.9, isSmall, `${ratio}`)
    reader.socket.close()
  }
})

test('compressed requests are understood; what inflates beyond the limit closes the socket', async () => {
  const threshold = { threshold: 0 }
  const reader = await Reader.open(apiKey, threshold)
  await reader.ask('subscribe', TX)
  assert.match(reader.texts[0] ?? '', /"status":"ok"/)
  reader.socket.send(' '.repeat(BOMB_BYTES))
  assert.equal(await reader.closed, 1009)
  const stranger = await Reader.open(undefined, threshold)
  stranger.socket.send(' '.repeat(BOMB_BYTES))
  assert.equal(await stranger.closed, 1009)
  // Below the limit of a message, but above that of one without a key.
  const unknown = await Reader.open(undefined, threshold)
  unknown.socket.send(' '.repeat(10_000))
  assert.equal(await unknown.closed, 1009)
})
