import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MEME_WETH, samplePair, sampleTrade } from '../../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../../support/rigs/gateway-world.ts'

/** ClickHouse accepts connections and never responds. */

const HISTORY = `/v2/txs/${MEME_WETH}-eth`
/** Far less than a query may take. */
const AT_ONCE_MS = 1_500

let world: GatewayWorld
let gateway: Gateway
before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  await world.publish([
    { type: 'pair', pair: samplePair() },
    { type: 'trade', trade: sampleTrade() },
  ])
  await world.storeAll()
  gateway = await world.startGateway()
})

after(async () => {
  await world?.stack.kill('clickhouse', 'SIGCONT')
  await gateway?.stop()
  await world?.stop()
})

test('once it is known to hang, history fails at once and free of charge, and all else is answered', async () => {
  assert.equal((await gateway.get(HISTORY)).status, 200)
  assert.deepEqual(gateway.role.details?.(), [])
  await world.stack.kill('clickhouse', 'SIGSTOP')
  await waitUntil('the gateway notices', () => gateway.role.details?.().length === 1)
  assert.match(gateway.role.details?.()[0] ?? '', /ClickHouse unavailable/)
  assert.equal(gateway.role.readiness(), undefined)

  const startedMs = performance.now()
  const { status, headers, body } = await gateway.get(HISTORY)
  assert.ok(performance.now() - startedMs < AT_ONCE_MS)
  assert.deepEqual([status, (body as { code: string }).code], [500, 'store_unavailable'])
  assert.deepEqual([headers['x-cu-cost'], headers['retry-after'] !== undefined], ['0', true])
  assert.equal((await gateway.get(`/v2/pairs/${MEME_WETH}-eth`)).status, 200)

  await world.stack.kill('clickhouse', 'SIGCONT')
  await waitUntil('history is back', async () => (await gateway.get(HISTORY)).status === 200)
  assert.deepEqual(gateway.role.details?.(), [])
})
