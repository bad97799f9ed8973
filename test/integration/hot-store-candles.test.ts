import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Candle, ChangeSet } from '../../src/domain/change.ts'
import { latestOf } from '../support/reference/rows-of-sets.ts'
import { candleAt, dropCandle, HotStoreRig, headOf, k1, putCandle, setOf } from './hot-store-rig.ts'

const rig = new HotStoreRig()

describe('the latest candle', () => {
  const [t0, t1, t2] = [candleAt(60), candleAt(120), candleAt(180)] as const
  const stories: [string, ChangeSet[], Candle | undefined][] = [
    ['moves on', [setOf(1, putCandle(t0)), setOf(2, putCandle(t1))], t1],
    [
      'goes back',
      [setOf(1, putCandle(t0)), setOf(2, putCandle(t1)), setOf(3, dropCandle(t1), putCandle(t0))],
      t0,
    ],
    [
      'goes back, published in the other order',
      [setOf(2, putCandle(t1)), setOf(3, putCandle(t0), dropCandle(t1))],
      t0,
    ],
    ['goes back two', [setOf(1, putCandle(t2)), setOf(3, dropCandle(t2), dropCandle(t1), putCandle(t0))], t0],
    ['is gone', [setOf(1, putCandle(t0)), setOf(2, dropCandle(t0))], undefined],
    ['comes back', [setOf(1, putCandle(t0)), setOf(2, dropCandle(t0)), setOf(3, putCandle(t0))], t0],
    [
      'goes back, and the one before is not published again',
      [setOf(1, putCandle(t0)), setOf(2, putCandle(t1)), setOf(3, dropCandle(t1))],
      t0,
    ],
    ['outlives an older one', [setOf(1, putCandle(t1)), setOf(2, dropCandle(t0))], t1],
    ['is not replaced by an older one', [setOf(1, putCandle(t1)), setOf(2, putCandle(t0))], t1],
  ]
  for (const [name, sets, expected] of stories) {
    for (const batchSize of [1, 2, 3]) {
      test(`${name}, in batches of ${batchSize}`, async () => {
        await rig.applyAll(sets, batchSize)
        assert.deepEqual((await rig.hot.candles([k1]))[0]?.record, expected)
        await rig.applyAll(sets, batchSize)
        assert.deepEqual((await rig.hot.candles([k1]))[0]?.record, expected)
      })
    }
  }
})

describe('recent candles', () => {
  const many = Array.from({ length: 40 }, (_, i) => candleAt(60 * (i + 1)))
  const starts = async (limit = 100): Promise<number[]> =>
    ((await rig.hot.recentCandles(k1, limit))?.candles ?? []).map(({ record }) => record.start / 60)
  const openSmall = async (): Promise<void> => {
    await rig.reopen({ recent_candles: 8 })
  }

  test('are newest first and limited as requested, and complete while they are few', async () => {
    await rig.applyAll([setOf(1, ...many.slice(0, 5).map(putCandle))], 1)
    assert.deepEqual(await starts(), [5, 4, 3, 2, 1])
    assert.deepEqual(await starts(2), [5, 4])
    assert.deepEqual(await starts(1), [5])
    assert.equal((await rig.hot.recentCandles(k1, 1))?.from, 0)
    assert.equal(await rig.hot.recentCandles({ ...k1, interval: 'k5' }, 9), undefined)
  })

  test('are bounded, and complete from their beginning on', async () => {
    await openSmall()
    const sets = many.map((candle, i) => setOf(i + 1, putCandle(candle)))
    for (const batchSize of [1, 3, 40]) {
      await rig.raw.flushall()
      await rig.hot.head('eth')
      for (let at = 0; at < sets.length; at += batchSize) {
        await rig.applyAll(sets.slice(at, at + batchSize), batchSize)
        const applied = Math.min(at + batchSize, sets.length)
        const series = await rig.hot.recentCandles(k1, 100)
        const found = (series?.candles ?? []).map(({ record }) => record.start)
        const expected = many
          .slice(0, applied)
          .map(({ start }) => start)
          .filter((start) => start >= (series?.from ?? 0))
        assert.deepEqual(found, expected.reverse())
        assert.ok(found.length >= Math.min(applied, 8) && found.length <= 12, `${found.length} kept`)
      }
      assert.ok(((await rig.hot.recentCandles(k1, 100))?.from ?? 0) > 0)
    }
  })

  test('that were dropped do not come back, even when a fork publishes them again', async () => {
    await openSmall()
    await rig.applyAll([setOf(1, ...many.map(putCandle))], 1)
    const before = await starts()
    assert.deepEqual(before, [40, 39, 38, 37, 36, 35, 34, 33])
    await rig.applyAll([setOf(2, putCandle(candleAt(60 * 20)), dropCandle(candleAt(60 * 40)))], 1)
    assert.deepEqual(await starts(), before.slice(1))
    // All remaining ones are retracted; the series still records that it lacks older ones.
    await rig.applyAll([setOf(3, ...before.slice(1).map((i) => dropCandle(candleAt(60 * i))))], 1)
    assert.equal(await rig.hot.recentCandles(k1, 9), undefined)
    await rig.applyAll([setOf(4, putCandle(candleAt(60 * 39)))], 1)
    assert.deepEqual([await starts(), (await rig.hot.recentCandles(k1, 9))?.from], [[39], 32 * 60 + 1])
  })

  test('are not written if Redis has lost earlier ones', async () => {
    await rig.applyAll([setOf(1, ...many.slice(0, 5).map(putCandle))], 1)
    await rig.raw.flushall()
    const late = setOf(2, putCandle(candleAt(60 * 6)))
    await assert.rejects(rig.hot.apply(latestOf([late]), headOf(late)))
    assert.equal(await rig.hot.recentCandles(k1, 9), undefined)
  })
})
