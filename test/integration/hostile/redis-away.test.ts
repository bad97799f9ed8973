import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Redis } from 'ioredis'
import {
  MEME,
  MEME_WETH,
  sampleCandle,
  samplePair,
  sampleToken,
  sampleWindows,
} from '../../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../../support/rigs/gateway-world.ts'

/** A gateway answers the same without Redis: from its memory and ClickHouse. */

const PATHS = [
  `/v2/pairs/${MEME_WETH}-eth`,
  `/v2/tokens/${MEME}-eth`,
  `/v2/klines/pair/${MEME_WETH}-eth?interval=k1&limit=5&fill=false`,
  '/v2/tokens/trending?chain=eth',
]

let world: GatewayWorld
let gateway: Gateway
before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  await world.publish([
    { type: 'pair', pair: samplePair() },
    { type: 'token', token: sampleToken() },
    { type: 'windows', windows: sampleWindows() },
    { type: 'candle', candle: sampleCandle() },
  ])
  await world.storeAll()
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

async function answersOf(asked: Gateway): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const path of PATHS) {
    const { status, body } = await asked.get(path)
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
    found[path] = body
  }
  const { status, body } = await asked.post('/v2/tokens/price', { token_ids: [`${MEME}-eth`], tvl_min: 0 })
  assert.equal(status, 200, JSON.stringify(body))
  return { ...found, price: body }
}

/** What a gateway that keeps no answers yet says without Redis, and then of a block that Redis never got. */
async function assertSameWithout(take: () => Promise<void>, give: () => Promise<void>): Promise<void> {
  const expected = await answersOf(gateway)
  const fresh = await world.startGateway()
  try {
    await take()
    try {
      assert.deepEqual(await answersOf(fresh), expected)
      const pair = samplePair({ address: `0x${'7'.repeat(40)}` })
      const set = await world.publish([{ type: 'pair', pair }])
      await Promise.all([fresh.applied(set), gateway.applied(set)])
      const { status, headers } = await fresh.get(`/v2/pairs/${pair.address}-eth`)
      assert.deepEqual([status, headers['x-block']], [200, String(set.head.number)])
    } finally {
      await give()
    }
    await waitUntil('Redis is asked again', async () => (await fresh.get('/v2/usage')).status === 200)
    assert.deepEqual(await answersOf(fresh), await answersOf(gateway))
  } finally {
    await fresh.stop()
  }
}

test('a hung Redis costs the first requests a second, and later ones nothing', async () => {
  await assertSameWithout(
    () => world.stack.kill('redis', 'SIGSTOP'),
    () => world.stack.kill('redis', 'SIGCONT'),
  )
})

test('Redis that is full', async () => {
  const redis = new Redis(world.stack.redisUrl)
  await assertSameWithout(
    async () => {
      await redis.config('SET', 'maxmemory-policy', 'noeviction')
      await redis.config('SET', 'maxmemory', '1mb')
    },
    async () => {
      await redis.config('SET', 'maxmemory', '0')
      redis.disconnect()
    },
  )
})

test('Redis that is dead, and back without its data', async () => {
  await assertSameWithout(
    () => world.stack.kill('redis'),
    () => world.stack.restart('redis'),
  )
})
