import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChainHead } from '../../src/domain/chain-head.ts'
import type { ChangeSet } from '../../src/domain/change.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import { openHotStore } from '../../src/store/redis/hot-store.ts'
import { buildPair, buildToken } from '../support/builders/change-builders.ts'
import { assertDocuments } from '../support/builders/hot-documents.ts'
import { storySets } from '../support/builders/story.ts'
import { latestOf } from '../support/reference/rows-of-sets.ts'
import {
  candleAt,
  dice,
  dropCandle,
  HotStoreRig,
  headOf,
  k1,
  pool,
  putCandle,
  setOf,
} from './hot-store-rig.ts'

const rig = new HotStoreRig()

test('documents and ranks equal the changes, in batches of any size and with repetitions', async () => {
  for (const seed of [21, 22, 23]) {
    const { sets, world } = storySets({ chain: 'eth', seed, messages: 150 })
    const all = storySets({ chain: 'eth', seed, messages: 75 }).world
    for (const batchSize of [1, 7, 150]) {
      await rig.raw.flushall()
      assert.equal(await rig.hot.head('eth'), undefined)
      await rig.applyAll(sets, batchSize)
      await assertDocuments(rig.hot, 'eth', world, all)
      await rig.applyAll(sets.slice(100), 9)
      await rig.applyAll(sets, 11)
      await assertDocuments(rig.hot, 'eth', world, all)
      assert.deepEqual(await rig.hot.head('eth'), headOf(sets.at(-1) as ChangeSet))
    }
  }
})

test('an older write does not restore a removed document; its tombstone expires', async () => {
  const pair = buildPair(dice, pool, 5)
  const token = buildToken(dice, '0xbb', 5)
  const created = setOf(1, { type: 'pair', pair }, { type: 'token', token }, putCandle(candleAt(60)))
  const removed = setOf(
    2,
    { type: 'pairRemoved', pair: '0xaa' },
    { type: 'tokenRemoved', token: '0xbb' },
    dropCandle(candleAt(60)),
  )
  await rig.applyAll([created], 1)
  assert.deepEqual(await rig.hot.topPairs('eth', '0xcc', 5), ['0xaa'])
  await rig.applyAll([removed], 1)
  await rig.hot.apply(latestOf([created]), headOf(removed))
  assert.deepEqual(await rig.hot.pairs([{ chain: 'eth', address: '0xaa' }]), [undefined])
  assert.deepEqual(await rig.hot.tokens([{ chain: 'eth', address: '0xbb' }]), [undefined])
  assert.deepEqual(await rig.hot.candles([k1]), [undefined])
  assert.deepEqual(await rig.hot.topPairs('eth', '0xbb', 5), [])
  assert.deepEqual(await rig.hot.topPairs('eth', '0xcc', 5), [])
  for (const key of ['pair:eth:0xaa', 'token:eth:0xbb']) {
    const seconds = await rig.raw.ttl(`test:${key}`)
    assert.ok(seconds > 3_500 && seconds <= 3_600, `${key}: ${seconds}`)
  }
  await rig.applyAll([setOf(3, { type: 'pair', pair })], 1)
  assert.equal(await rig.raw.ttl('test:pair:eth:0xaa'), -1)
  assert.deepEqual(await rig.hot.topPairs('eth', '0xcc', 5), ['0xaa'])
})

test('results are in the order of the request, with gaps for unknown documents', async () => {
  const token = buildToken(dice, '0xbb', 5)
  await rig.applyAll([setOf(4, { type: 'token', token })], 1)
  const refs = ['0x00', '0xbb', '0x01', '0xbb'].map((address) => ({ chain: 'eth', address }))
  const known = { seq: 4, record: token }
  assert.deepEqual(await rig.hot.tokens(refs), [undefined, known, undefined, known])
  assert.deepEqual(await rig.hot.tokens([]), [])
})

test('the head never goes back', async () => {
  const [older, newer] = [setOf(5), setOf(9)]
  await rig.hot.apply(latestOf([newer]), headOf(newer))
  await rig.hot.apply(latestOf([older]), headOf(older))
  assert.deepEqual(await rig.hot.head('eth'), headOf(newer))
})

test('the next write detects lost data and does not write a new head over it', async () => {
  const [first, second] = [setOf(5), setOf(9)]
  await rig.hot.apply(latestOf([first]), headOf(first))
  await rig.raw.flushall()
  await assert.rejects(
    rig.hot.apply(latestOf([second]), headOf(second)),
    (error) => error instanceof ChaintapeError && error.code === 'store_unavailable',
  )
  assert.equal(await rig.hot.head('eth'), undefined)
  await rig.hot.apply(latestOf([first, second]), headOf(second))
  assert.equal((await rig.hot.head('eth'))?.seq, 9)
})

test('once a head was read, reads fail after Redis lost it, until it is reached again', async () => {
  const reader = await openHotStore({ url: rig.stack.redisUrl, prefix: 'test' }, rig.common)
  const pair = buildPair(dice, pool, 5)
  const sets = [setOf(5, { type: 'pair', pair }), setOf(9, { type: 'pair', pair: { ...pair, updatedAt: 9 } })]
  const heads = sets.map(headOf) as [ChainHead, ChainHead]
  const reads = (): Promise<unknown>[] => [
    reader.pairs([{ chain: 'eth', address: '0xaa' }]),
    reader.candles([k1]),
    reader.recentCandles(k1, 5),
    reader.topPairs('eth', '0xbb', 5),
    reader.topTokens('eth', 'fdv', 5),
  ]
  const expectRefused = async (): Promise<void> => {
    for (const read of reads()) await assert.rejects(read, { code: 'store_unavailable' })
  }
  try {
    await rig.hot.apply(latestOf(sets), heads[1])
    await reader.head('eth')
    await Promise.all(reads())
    await rig.raw.flushall()
    await expectRefused()
    await assert.rejects(rig.hot.apply(latestOf([]), heads[1]), { code: 'store_unavailable' })
    await rig.hot.apply(latestOf(sets.slice(0, 1)), heads[0])
    assert.equal((await reader.head('eth'))?.seq, 5)
    await expectRefused()
    await rig.hot.apply(latestOf(sets.slice(1)), heads[1])
    const [stored] = await reader.pairs([{ chain: 'eth', address: '0xaa' }])
    assert.equal(stored?.seq, 9)
    // Another chain is another matter.
    assert.deepEqual(await reader.topPairs('bsc', '0xbb', 5), [])
  } finally {
    await reader.close()
  }
})

test('a document of another layout is an error', async () => {
  await rig.raw.set('test:token:eth:0xbb', '2:5\nxyz')
  await assert.rejects(
    rig.hot.tokens([{ chain: 'eth', address: '0xbb' }]),
    (error) => error instanceof ChaintapeError && error.code === 'message_unreadable',
  )
})

test('while Redis is down, commands fail at once; they work again when it is back', async () => {
  const isUnavailable = (error: unknown): boolean =>
    error instanceof ChaintapeError && error.code === 'store_unavailable'
  await assert.rejects(
    openHotStore({ url: 'redis://127.0.0.1:1', prefix: 'test' }, rig.common),
    isUnavailable,
  )
  await rig.stack.kill('redis')
  const startedAt = performance.now()
  await assert.rejects(rig.hot.head('eth'), isUnavailable)
  await assert.rejects(rig.hot.apply(latestOf([setOf(1)]), headOf(setOf(1))), isUnavailable)
  assert.ok(performance.now() - startedAt < 1_000)
  await rig.stack.restart('redis')
  for (let attempt = 0; ; attempt++) {
    try {
      await rig.hot.apply(latestOf([setOf(1)]), headOf(setOf(1)))
      break
    } catch (error) {
      assert.ok(isUnavailable(error) && attempt < 100)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  assert.equal((await rig.hot.head('eth'))?.seq, 1)
})
