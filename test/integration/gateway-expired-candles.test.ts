import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Redis } from 'ioredis'
import type { ChangeSet } from '../../src/domain/change.ts'
import { klineRows } from '../../src/gateway/shape/kline-rows.ts'
import {
  CANDLE_PAIR,
  CandleMarket,
  type CandleState,
  newestFirst,
} from '../support/builders/candle-market.ts'
import { Dice } from '../support/builders/change-builders.ts'
import { sampleCandle, samplePair } from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

let world: GatewayWorld
let gateway: Gateway
let raw: Redis

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  gateway = await world.startGateway()
  raw = new Redis(world.stack.redisUrl)
})

after(async () => {
  raw?.disconnect()
  await gateway?.stop()
  await world?.stop()
})

async function expireCandles(): Promise<void> {
  for (const key of await raw.keys('*:candles:eth:*')) await raw.del(key)
}

async function assertAnswers(state: CandleState): Promise<void> {
  for (const interval of ['s1', 'k60', 'k10080'] as const) {
    const all = newestFirst(state.get(interval) ?? new Map())
    for (const limit of [1, 3, 500]) {
      const path = `/v2/klines/pair/${CANDLE_PAIR}-eth?interval=${interval}&limit=${limit}&fill=false`
      const { status, body } = await gateway.get(path)
      assert.equal(status, 200)
      assert.deepEqual(body, klineRows(all.slice(0, limit), 'usd'), path)
    }
  }
}

test('answers are the same from Redis, from ClickHouse, and from both, with forks and expiry', async () => {
  const dice = new Dice(11)
  // Whether the first trade of the pair is known decides if few candles can be all of them.
  const market = new CandleMarket(12, samplePair({ createdAt: undefined, firstTradeAt: undefined }))
  for (let i = 0; i < 25; i++) market.step()
  for (const [index, { changes, cause }] of market.sets.entries()) {
    const set: ChangeSet = await world.publish(changes, { cause })
    if (dice.below(3) === 0) await world.storeAll()
    if (dice.below(5) === 0) await expireCandles()
    await gateway.applied(set)
    await assertAnswers(market.states[index] as CandleState)
  }
})

test('the first push of a kline comes from ClickHouse where Redis has none', async () => {
  const pair = samplePair({ address: `0x${'9'.repeat(40)}` })
  const candle = sampleCandle({ pair: pair.address })
  const set = await world.publish([
    { type: 'pair', pair },
    { type: 'candle', candle },
  ])
  await world.storeAll()
  await gateway.applied(set)
  const first = async (): Promise<unknown> => {
    const client = await gateway.connect()
    await client.request(1, 'subscribe', ['kline', pair.address, 'k1', 'eth'])
    const push = await client.next()
    await client.close()
    return push
  }
  const fromRedis = await first()
  await waitUntil(
    'the overlay is empty',
    async () => (await gateway.metric('chaintape_gateway_overlay_documents')) === 0,
  )
  await expireCandles()
  assert.deepEqual(await first(), fromRedis)
})
