import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import type { ChainHead } from '../../src/domain/chain-head.ts'
import type { ChangeSet } from '../../src/domain/change.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { type HotStore, openHotStore } from '../../src/store/redis/hot-store.ts'
import {
  CANDLE_PAIR,
  CandleMarket,
  type CandleState,
  newestFirst,
} from '../support/builders/candle-market.ts'
import { Dice } from '../support/builders/change-builders.ts'
import { samplePair } from '../support/builders/market-samples.ts'
import { latestOf } from '../support/reference/rows-of-sets.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const KEY = `test:candles:eth:${CANDLE_PAIR}`
/** Few cached candles, so that a reorg retracts most of them, and many, so that it does not. */
const [FEW, MANY] = [8, 40]

let stack: Stack
let hot: HotStore
let raw: Redis
const common = createTestCommon()

before(async () => {
  stack = await startStack({ services: ['redis'] })
  raw = new Redis(stack.redisUrl)
})

after(async () => {
  await hot?.close()
  raw?.disconnect()
  await stack?.stop()
})

beforeEach(async () => {
  await hot?.close()
  await raw.flushall()
  await raw.config('SET', 'maxmemory', '0')
  hot = await openHotStore({ url: stack.redisUrl, prefix: 'test', recent_candles: FEW }, common)
})

function headOf({ chain, seq, head, finalNumber }: ChangeSet): ChainHead {
  return { chain, seq, ...head, finalNumber, position: { epoch: 'e', sequence: seq, link: 1 } }
}

/** Series in Redis are correct: one may begin later than the market, or be gone, but no candle in it is missing or outdated. */
async function assertTrue(state: CandleState, limit: number): Promise<void> {
  for (const [interval, series] of state) {
    const ref = { chain: 'eth', pair: CANDLE_PAIR, interval }
    const all = newestFirst(series)
    const recent = await hot.recentCandles(ref, 1_000)
    const [newest] = await hot.candles([ref])
    if (recent === undefined) {
      assert.ok(limit === FEW || all.length === 0, `${interval} is not there`)
      assert.equal(newest, undefined)
      continue
    }
    assert.deepEqual(
      recent.candles,
      all.filter(({ record }) => record.start >= recent.from),
      interval,
    )
    assert.deepEqual(newest, all[0])
    assert.deepEqual((await hot.recentCandles(ref, 3))?.candles, recent.candles.slice(0, 3))
    assert.ok(recent.candles.length <= limit * 2, `${recent.candles.length} candles`)
    if (limit === MANY) {
      assert.ok(recent.candles.length >= Math.min(limit - 10, all.length), `${recent.candles.length} candles`)
    }
  }
}

describe('series of candles', () => {
  for (const seed of [1, 2, 3]) {
    test(`equal the market, with forks and any batching (${seed})`, async () => {
      await hot.close()
      hot = await openHotStore({ url: stack.redisUrl, prefix: 'test', recent_candles: MANY }, common)
      const dice = new Dice(seed)
      const market = new CandleMarket(seed)
      for (let i = 0; i < 120; i++) market.step()
      for (let at = 0; at < market.sets.length; ) {
        const size = 1 + dice.below(9)
        const batch = market.sets.slice(at, at + size)
        at += batch.length
        await hot.apply(latestOf(batch), headOf(batch.at(-1) as ChangeSet))
        await assertTrue(market.states[at - 1] as CandleState, MANY)
      }
    })

    test(`stay true when they expire at any time and messages are repeated (${seed})`, async () => {
      const dice = new Dice(seed + 100)
      const market = new CandleMarket(seed + 100, samplePair())
      for (let i = 0; i < 120; i++) market.step()
      for (let at = 0; at < market.sets.length; ) {
        const size = 1 + dice.below(9)
        const batch = market.sets.slice(at, at + size)
        at += batch.length
        await hot.apply(latestOf(batch), headOf(batch.at(-1) as ChangeSet))
        await assertTrue(market.states[at - 1] as CandleState, FEW)
        if (dice.below(4) === 0) await raw.del(KEY)
        // As after a crash: the writer goes on from an older marker.
        if (dice.below(3) === 0) {
          const again = market.sets.slice(Math.max(0, at - 1 - dice.below(12)), at)
          for (const set of again) {
            await hot.apply(latestOf([set]), headOf(set))
            await assertTrue(market.states[at - 1] as CandleState, FEW)
          }
        }
      }
    })
  }

  test('expire when the pair does not trade, and not before', async () => {
    await hot.close()
    hot = await openHotStore({ url: stack.redisUrl, prefix: 'test', idle_candles_seconds: 1_000 }, common)
    const market = new CandleMarket(7, samplePair())
    for (let i = 0; i < 3; i++) market.step()
    for (const set of market.sets) await hot.apply(latestOf([set]), headOf(set))
    assert.ok((await raw.ttl(KEY)) > 900)
    await raw.expire(KEY, 10)
    market.step()
    const last = market.sets.at(-1) as ChangeSet
    await hot.apply(latestOf([last]), headOf(last))
    assert.ok((await raw.ttl(KEY)) > 900)
    assert.equal(await raw.ttl(`test:pair:eth:${CANDLE_PAIR}`), -1)
  })
})
