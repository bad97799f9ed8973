import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Redis } from 'ioredis'
import type { ChainHead } from '../../../src/domain/chain-head.ts'
import type { Candle, Change, ChangeSet } from '../../../src/domain/change.ts'
import { INTERVALS } from '../../../src/domain/interval.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { type HotStore, openHotStore } from '../../../src/store/redis/hot-store.ts'
import { openQuotaStore } from '../../../src/store/redis/quota-store.ts'
import { openRateStore } from '../../../src/store/redis/rate-store.ts'
import { buildCandle, buildPair, Dice } from '../../support/builders/change-builders.ts'
import { latestOf } from '../../support/reference/rows-of-sets.ts'
import { createTestCommon } from '../../support/rigs/test-common.ts'

const PAIRS = 60
const BLOCKS = 40
/** A few times what the documents take, and a small part of what all candles would. */
const SPARE_BYTES = 1_000_000

let stack: Stack
let raw: Redis
let hot: HotStore
const common = createTestCommon()
const dice = new Dice(5)

before(async () => {
  stack = await startStack({ services: ['redis'] })
  raw = new Redis(stack.redisUrl)
})

after(async () => {
  await common.shutdown.finish()
  raw?.disconnect()
  await stack?.stop()
})

beforeEach(async () => {
  await raw.flushall()
  const opened = await openHotStore({ url: stack.redisUrl, prefix: 'test' }, common)
  common.shutdown.onClose('hot store', () => opened.close())
  hot = opened
})

const addressOf = (pair: number): string => `0x${pair.toString(16).padStart(40, '0')}`

function setOf(seq: number, changes: Change[]): [ChangeSet, ChainHead] {
  const head = { number: seq, hash: '0x01', time: 1_000 + seq }
  const set: ChangeSet = { chain: 'eth', seq, cause: 'block', head, finalNumber: 0, changes }
  return [
    set,
    { chain: 'eth', seq, ...head, finalNumber: 0, position: { epoch: 'e', sequence: seq, link: 1 } },
  ]
}

test('with volatile-lru a full Redis evicts candles only, and what is left of them is true', async () => {
  const quota = await openQuotaStore(
    { url: stack.redisUrl, prefix: 'test', gateway: 'g', leaseMs: 60_000, remembered: async () => new Map() },
    common,
  )
  common.shutdown.onClose('quota', () => quota.close())
  const rates = await openRateStore({ url: stack.redisUrl, prefix: 'test', gateway: 'g' }, common)
  common.shutdown.onClose('rates', () => rates.close())
  const lease = { call: 1, spent: 0, ceiling: 0, limit: 100, need: 10, want: 10, least: 1 }
  assert.equal((await quota.lease({ keyId: 'k', month: '2026-03' }, lease)).granted, 10)
  await rates.lease('k', { perSecond: 10, burst: 10, giveBack: 0, want: 5 })

  const pairs = Array.from({ length: PAIRS }, (_, pair) => addressOf(pair))
  const pools = pairs.map((address) => ({ address, token0: '0xbb', token1: '0xcc' }))
  const created = pools.map((pool): Change => ({ type: 'pair', pair: buildPair(dice, pool, 5) }))
  await hot.apply(latestOf([setOf(1, created)[0]]), setOf(1, [])[1])

  const used = Number(/used_memory:(\d+)/.exec(await raw.info('memory'))?.[1])
  await raw.config('SET', 'maxmemory-policy', 'volatile-lru')
  await raw.config('SET', 'maxmemory', String(used + SPARE_BYTES))

  const all = new Map<string, Candle[]>()
  for (let block = 2; block < BLOCKS + 2; block++) {
    const key = { block, tx: 1, log: 1 }
    const candles = pairs.flatMap((pair) =>
      INTERVALS.map((interval) => buildCandle(dice, pair, interval, key, block * 700_000)),
    )
    for (const candle of candles) {
      const id = `${candle.pair}/${candle.interval}`
      all.set(id, [candle, ...(all.get(id) ?? [])])
    }
    const changes = candles.map((candle): Change => ({ type: 'candle', candle }))
    const [set, head] = setOf(block, changes)
    await hot.apply(latestOf([set]), head)
  }

  const evicted = Number(/evicted_keys:(\d+)/.exec(await raw.info('stats'))?.[1])
  assert.ok(evicted > 0, 'Redis is too large for this test')
  let found = 0
  for (const pair of pairs) {
    for (const interval of ['s1', 'k60', 'k10080'] as const) {
      const ref = { chain: 'eth', pair, interval }
      const series = await hot.recentCandles(ref, 1_000)
      if (series === undefined) continue
      found++
      const expected = (all.get(`${pair}/${interval}`) ?? []).filter(({ start }) => start >= series.from)
      assert.deepEqual(
        series.candles.map(({ record }) => record),
        expected,
      )
    }
  }
  assert.ok(found > 0, 'no candles are left')
  const documents = await hot.pairs(pairs.map((address) => ({ chain: 'eth', address })))
  assert.ok(documents.every((document) => document !== undefined))
  assert.equal((await hot.head('eth'))?.seq, BLOCKS + 1)
  await raw.config('SET', 'maxmemory', '0')
  // All that may be evicted are candles.
  for (const key of await raw.keys('test:*')) {
    assert.equal((await raw.ttl(key)) >= 0, key.startsWith('test:candles:'), key)
  }
  assert.equal(
    (await quota.lease({ keyId: 'k', month: '2026-03' }, { ...lease, call: 2, spent: 10, ceiling: 10 }))
      .spentByAll,
    10,
  )
})

test('units of past months are removed once they are two months old', async () => {
  const quota = await openQuotaStore(
    { url: stack.redisUrl, prefix: 'test', gateway: 'g', leaseMs: 60_000, remembered: async () => new Map() },
    common,
  )
  common.shutdown.onClose('quota', () => quota.close())
  const lease = { call: 1, spent: 0, ceiling: 0, limit: 100, need: 10, want: 10, least: 1 }
  for (const month of ['2025-11', '2025-12', '2026-01']) await quota.lease({ keyId: 'k', month }, lease)
  assert.deepEqual((await raw.keys('test:quota:*')).sort(), [
    'test:quota:{k}:2025-12',
    'test:quota:{k}:2026-01',
  ])
})
