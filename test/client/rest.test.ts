import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { OPERATIONS } from '../../clients/typescript/src/generated/operations.ts'
import { createRest, isApiError, type RestMethods } from '../../clients/typescript/src/index.ts'
import { MEME, MEME_WETH } from '../support/builders/market-samples.ts'
import { EXAMPLE_MARKET, EXAMPLE_REQUESTS } from '../support/rigs/example-requests.ts'
import { API_KEY, type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'

let world: GatewayWorld
let gateway: Gateway
let rest: RestMethods

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  await world.publish(EXAMPLE_MARKET)
  await world.storeAll()
  gateway = await world.startGateway()
  rest = createRest({ url: gateway.url, key: API_KEY })
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

/** Fields that follow the clock. */
const MOVING = new Set(['lag_ms', 'time', 'used', 'requests', 'cu', 'cu_used', 'cu_remaining', 'days'])

function still(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body, (key, value: unknown) => (MOVING.has(key) ? undefined : value)))
}

test('every operation returns what the gateway answers', async () => {
  for (const [name, { method, path, hasPathId, hasInput }] of Object.entries(OPERATIONS)) {
    const { parameters = {}, body } = EXAMPLE_REQUESTS[name] ?? assert.fail(`no example of ${name}`)
    const [idName = ''] = /(?<=\{)[^}]+/.exec(path) ?? []
    const { [idName]: id, ...query } = parameters as Record<string, unknown>
    const args = [...(hasPathId ? [id] : []), ...(hasInput ? [body ?? query] : [])]
    const call = rest[name as keyof RestMethods] as (...given: unknown[]) => ReturnType<RestMethods['chains']>
    const { data, meta } = await call(...args).withMeta()
    const target = `${path.replace(/\{[^}]+\}/, String(id))}?${new URLSearchParams(query as Record<string, string>)}`
    const raw =
      method === 'POST' ? await gateway.post(path, body) : await gateway.get(target.replace(/\?$/, ''))
    // The datafeed's clock is text, not JSON.
    if (name === 'udfTime') assert.match(String(data), /^\d{10}$/)
    else assert.deepEqual(still(data), still(raw.body), name)
    assert.equal(meta.cuCost, Number(raw.headers['x-cu-cost'] ?? Number.NaN) || meta.cuCost, name)
  }
})

test('an error of the gateway has its code, and a lost key has another', async () => {
  const unknown = await rest
    .tokenDetail(`0x${'9'.repeat(40)}-eth`, { retries: 0 })
    .catch((error: unknown) => error)
  assert.ok(isApiError(unknown, 'unknown_token'))
  const malformed = await rest.keywordSearch({ keyword: 'x', limit: 301 }).catch((error: unknown) => error)
  assert.ok(isApiError(malformed))
  assert.equal(malformed.status, 400)
  assert.ok(malformed.faults.length > 0)
  const refused = await createRest({ url: gateway.url, key: 'ctk_wrong' })
    .chains()
    .catch((error: unknown) => error)
  assert.ok(isApiError(refused, 'unauthorized'))
})

test('meta has the cost, the freshness and, for candles, the cursor', async () => {
  const { meta } = await rest.pairKlines(`${MEME_WETH}-eth`).withMeta()
  assert.deepEqual([meta.cuCost, typeof meta.block, meta.cursor?.slice(0, 3)], [10, 'number', 'c1.'])
  assert.ok((meta.limits['cu']?.remaining ?? 0) > 0)
  const detail = await rest.tokenDetail(`${MEME}-eth`).withMeta()
  assert.deepEqual([detail.meta.cuCost, detail.data.data.token.symbol], [5, 'MEME'])
})
