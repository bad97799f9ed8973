import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createKeyStore, type KeyStore } from '../../src/gateway/access/keys/key-store.ts'
import { MEME_WETH, sampleCandle, samplePair, sampleToken } from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

const SYMBOL = `${MEME_WETH}-eth`

let world: GatewayWorld
let gateway: Gateway
let keys: KeyStore

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  await world.publish([
    { type: 'pair', pair: samplePair() },
    { type: 'token', token: sampleToken() },
    { type: 'candle', candle: sampleCandle() },
  ])
  await world.storeAll()
  gateway = await world.startGateway()
  keys = createKeyStore(await world.logs.openLatest('KEYS'), Date.now)
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

const status = async (path: string, headers: Record<string, string> = {}) =>
  (await fetch(`${gateway.url}${path}`, { headers })).status

test('the adapter of TradingView is served with a token in its address, and with nothing else', async () => {
  const { record, apiKey } = await keys.create({ name: 'charts', plan: 'default' })
  const { tokenId, token } = await keys.createChartToken(record.id)
  const base = `/udf/${token}`
  await waitUntil('the token is known', async () => (await status(`${base}/config`)) === 200)
  for (const path of [
    '/config',
    `/symbols?symbol=${SYMBOL}`,
    `/history?symbol=${SYMBOL}&resolution=1&from=0&to=2000000000&countback=2`,
    '/time',
    `/search?query=${SYMBOL}&type=&exchange=&limit=10`,
  ])
    assert.equal(await status(base + path), 200, path)
  const { body } = await gateway.get('/v2/usage', { 'x-api-key': apiKey })
  assert.equal((body as { cu_used: number }).cu_used, 20)
  for (const path of ['/../v2/chains', '/v2/chains', '/usage'])
    assert.equal(await status(base + path), 404, path)
  for (const path of ['/v2/chains', '/v2/usage', '/udf/config'])
    assert.equal(await status(path, { 'x-api-key': token }), 401, path)
  assert.equal(await status(`/udf/${apiKey}/config`), 404)
  await assert.rejects(gateway.connect({ 'x-api-key': token }))
  assert.ok(gateway.logLines.every((line) => !line.includes(token)))
  await keys.revokeChartToken(record.id, tokenId)
  await waitUntil('the token is revoked', async () => (await status(`${base}/config`)) === 401)
  assert.equal((await gateway.get('/v2/usage', { 'x-api-key': apiKey })).status, 200)
})
