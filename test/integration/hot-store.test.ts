import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { type Stack, startStack } from '../../dev/stack.ts'
import type { ChainHead } from '../../src/domain/chain-head.ts'
import type { Candle, Change, ChangeSet } from '../../src/domain/change.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import { type HotStore, openHotStore } from '../../src/store/redis/hot-store.ts'
import {
  buildCandle,
  buildPair,
  buildToken,
  buildWindows,
  Dice,
} from '../support/builders/change-builders.ts'
import { assertDocuments } from '../support/builders/hot-documents.ts'
import { storySets } from '../support/builders/story.ts'
import { latestOf } from '../support/reference/rows-of-sets.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

let stack: Stack
let hot: HotStore
let raw: Redis
const common = createTestCommon()
const dice = new Dice(3)
const pool = { address: '0xaa', token0: '0xbb', token1: '0xcc' }
const k1 = { chain: 'eth', pair: '0xaa', interval: 'k1' } as const

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
  hot = await openHotStore({ url: stack.redisUrl, prefix: 'test' }, common)
})

function setOf(seq: number, ...changes: Change[]): ChangeSet {
  const head = { number: seq, hash: '0x01', time: 1_000 + seq }
  return { chain: 'eth', seq, cause: 'block', head, finalNumber: 0, changes }
}

function headOf({ chain, seq, head, finalNumber }: ChangeSet): ChainHead {
  return { chain, seq, ...head, finalNumber, position: { epoch: 'e', seq, link: 1 } }
}

async function applyAll(sets: readonly ChangeSet[], batchSize: number): Promise<void> {
  for (let at = 0; at < sets.length; at += batchSize) {
    const batch = sets.slice(at, at + batchSize)
    await hot.apply(latestOf(batch), headOf(batch.at(-1) as ChangeSet))
  }
}

const putCandle = (candle: Candle): Change => ({ type: 'candle', candle })
const dropCandle = ({ pair, interval, start }: Candle): Change => ({
  type: 'candleRemoved',
  candle: { pair, interval, start },
})
const candleAt = (start: number): Candle =>
  buildCandle(dice, '0xaa', 'k1', { block: 1, tx: 1, log: 1 }, start)

test('documents and ranks equal what the changes say, with any batching and any repetition', async () => {
  for (const seed of [21, 22, 23]) {
    const { sets, world } = storySets({ chain: 'eth', seed, messages: 150 })
    const all = storySets({ chain: 'eth', seed, messages: 75 }).world
    for (const batchSize of [1, 7, 150]) {
      await raw.flushall()
      assert.equal(await hot.head('eth'), undefined)
      await applyAll(sets, batchSize)
      await assertDocuments(hot, 'eth', world, all)
      await applyAll(sets.slice(100), 9)
      await applyAll(sets, 11)
      await assertDocuments(hot, 'eth', world, all)
      assert.deepEqual(await hot.head('eth'), headOf(sets.at(-1) as ChangeSet))
    }
  }
})

describe('the newest candle', () => {
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
        await applyAll(sets, batchSize)
        assert.deepEqual((await hot.candles([k1]))[0]?.record, expected)
        await applyAll(sets, batchSize)
        assert.deepEqual((await hot.candles([k1]))[0]?.record, expected)
      })
    }
  }
})

describe('recent candles', () => {
  const many = Array.from({ length: 40 }, (_, i) => candleAt(60 * (i + 1)))
  const starts = async (limit = 100): Promise<number[]> =>
    ((await hot.recentCandles(k1, limit))?.candles ?? []).map(({ record }) => record.start / 60)
  const openSmall = async (): Promise<void> => {
    await hot.close()
    hot = await openHotStore({ url: stack.redisUrl, prefix: 'test', recent_candles: 8 }, common)
  }

  test('are newest first, at most as many as asked for, and all of them while they are few', async () => {
    await applyAll([setOf(1, ...many.slice(0, 5).map(putCandle))], 1)
    assert.deepEqual(await starts(), [5, 4, 3, 2, 1])
    assert.deepEqual(await starts(2), [5, 4])
    assert.deepEqual(await starts(1), [5])
    assert.equal((await hot.recentCandles(k1, 1))?.from, 0)
    assert.equal(await hot.recentCandles({ ...k1, interval: 'k5' }, 9), undefined)
  })

  test('are bounded, and complete from their beginning on', async () => {
    await openSmall()
    const sets = many.map((candle, i) => setOf(i + 1, putCandle(candle)))
    for (const batchSize of [1, 3, 40]) {
      await raw.flushall()
      await hot.head('eth')
      for (let at = 0; at < sets.length; at += batchSize) {
        await applyAll(sets.slice(at, at + batchSize), batchSize)
        const applied = Math.min(at + batchSize, sets.length)
        const series = await hot.recentCandles(k1, 100)
        const found = (series?.candles ?? []).map(({ record }) => record.start)
        const expected = many
          .slice(0, applied)
          .map(({ start }) => start)
          .filter((start) => start >= (series?.from ?? 0))
        assert.deepEqual(found, expected.reverse())
        assert.ok(found.length >= Math.min(applied, 8) && found.length <= 12, `${found.length} kept`)
      }
      assert.ok(((await hot.recentCandles(k1, 100))?.from ?? 0) > 0)
    }
  })

  test('that were dropped do not come back, even when a fork publishes them again', async () => {
    await openSmall()
    await applyAll([setOf(1, ...many.map(putCandle))], 1)
    const before = await starts()
    assert.deepEqual(before, [40, 39, 38, 37, 36, 35, 34, 33])
    await applyAll([setOf(2, putCandle(candleAt(60 * 20)), dropCandle(candleAt(60 * 40)))], 1)
    assert.deepEqual(await starts(), before.slice(1))
    // All that are left are taken back: that there are older ones is still known.
    await applyAll([setOf(3, ...before.slice(1).map((i) => dropCandle(candleAt(60 * i))))], 1)
    assert.equal(await hot.recentCandles(k1, 9), undefined)
    await applyAll([setOf(4, putCandle(candleAt(60 * 39)))], 1)
    assert.deepEqual([await starts(), (await hot.recentCandles(k1, 9))?.from], [[39], 32 * 60 + 1])
  })

  test('are not touched when Redis has lost what came before', async () => {
    await applyAll([setOf(1, ...many.slice(0, 5).map(putCandle))], 1)
    await raw.flushall()
    const late = setOf(2, putCandle(candleAt(60 * 6)))
    await assert.rejects(hot.apply(latestOf([late]), headOf(late)))
    assert.equal(await hot.recentCandles(k1, 9), undefined)
  })
})

test('tokens of launch platforms are ranked in their groups, whichever of their documents comes last', async () => {
  const launched = (address: string, tvl: bigint, progressPpm: number, graduatedAt?: number): Change => {
    const platform = { name: 'fourmeme', createdAt: 5, progressPpm, graduatedAt }
    return { type: 'token', token: { ...buildToken(dice, address, 5), mainPairTvlUsd: tvl, platform } }
  }
  const traded = (address: string, volume: bigint): Change => {
    const built = buildWindows(dice, { pair: undefined, token: address }, 5)
    const [day] = built.lengths.slice(-1)
    assert.ok(day)
    const lengths = [...built.lengths.slice(0, 5), { ...day, buyUsd: volume, sellUsd: 0n }]
    return { type: 'windows', windows: { ...built, lengths } }
  }
  const ranks = (group: 'meme' | 'fourmeme_in' | 'fourmeme_out'): Promise<string[][]> =>
    Promise.all(
      (['volume_24h', 'main_pair_tvl', 'new', 'almost'] as const).map((by) =>
        hot.topTokens('eth', `${group}/${by}`, 9),
      ),
    )
  await applyAll([setOf(1, launched('0xbb', 7n, 799_999), traded('0xcc', 10n))], 1)
  await applyAll([setOf(2, traded('0xbb', 50n), launched('0xcc', 9n, 800_000))], 1)
  const both = [
    ['0xbb', '0xcc'],
    ['0xcc', '0xbb'],
  ] as const
  assert.deepEqual(await ranks('fourmeme_in'), [...both, ['0xcc', '0xbb'], ['0xcc']])
  assert.deepEqual(await ranks('meme'), [...both, [], []])
  await applyAll([setOf(3, launched('0xcc', 9n, 1_000_000, 20))], 1)
  assert.deepEqual(await ranks('fourmeme_in'), [['0xbb'], ['0xbb'], ['0xbb'], []])
  assert.deepEqual(await ranks('fourmeme_out'), [['0xcc'], ['0xcc'], ['0xcc'], []])
  assert.deepEqual(await ranks('meme'), [...both, [], []])
  // A fork brings it back to its curve; then nobody trades it any more, and at last it is gone.
  await applyAll([setOf(4, launched('0xcc', 9n, 900_000))], 1)
  assert.deepEqual(await ranks('fourmeme_out'), [[], [], [], []])
  await applyAll([setOf(5, traded('0xcc', 0n))], 1)
  assert.deepEqual(await ranks('fourmeme_in'), [['0xbb'], ['0xcc', '0xbb'], ['0xcc', '0xbb'], ['0xcc']])
  await applyAll([setOf(6, { type: 'tokenRemoved', token: '0xbb' })], 1)
  assert.deepEqual(await ranks('meme'), [[], ['0xcc'], [], []])
})

test('tokens are ranked by volume, worth and depth, and leave the ranks with what put them there', async () => {
  const token = { ...buildToken(dice, '0xbb', 5), fdvUsd: 7n, mainPairTvlUsd: undefined }
  const other = { ...buildToken(dice, '0xcc', 5), fdvUsd: 9n, mainPairTvlUsd: 1n }
  const windowsOf = (address: string, volume: bigint) => {
    const built = buildWindows(dice, { pair: '0xaa', token: address }, 5)
    const day = {
      buyUsd: volume,
      sellUsd: 1n,
      buys: 1,
      sells: 1,
      ...{ makers: 1, buyers: 1, sellers: 1, openUsd: undefined },
    }
    return { ...built, lengths: [...built.lengths.slice(0, 5), day] }
  }
  const ranks = (): Promise<string[][]> =>
    Promise.all((['volume_24h', 'fdv', 'main_pair_tvl'] as const).map((by) => hot.topTokens('eth', by, 9)))
  const shared = windowsOf('0xbb', 50n)
  await applyAll(
    [
      setOf(
        1,
        { type: 'token', token },
        { type: 'token', token: other },
        { type: 'windows', windows: { ...windowsOf('0xcc', 10n), pair: undefined } },
        { type: 'windows', windows: shared },
      ),
    ],
    1,
  )
  assert.deepEqual(await ranks(), [['0xbb', '0xcc'], ['0xcc', '0xbb'], ['0xcc']])
  assert.deepEqual(await hot.topTokens('eth', 'fdv', 1), ['0xcc'])
  const windowsRef = (kind: 'pair' | 'token', address: string) => ({ chain: 'eth', kind, address }) as const
  assert.deepEqual(
    await hot.windows([windowsRef('pair', '0xaa'), windowsRef('token', '0xbb'), windowsRef('token', '0xaa')]),
    [{ seq: 1, record: shared }, { seq: 1, record: shared }, undefined],
  )

  await applyAll(
    [
      setOf(
        2,
        { type: 'token', token: { ...token, fdvUsd: undefined, mainPairTvlUsd: 5n } },
        { type: 'windowsRemoved', windows: { pair: undefined, token: '0xcc' } },
      ),
    ],
    1,
  )
  assert.deepEqual(await ranks(), [['0xbb'], ['0xcc'], ['0xbb', '0xcc']])
  await applyAll(
    [setOf(3, { type: 'tokenRemoved', token: '0xbb' }, { type: 'windowsRemoved', windows: shared })],
    1,
  )
  assert.deepEqual(await ranks(), [[], ['0xcc'], ['0xcc']])
  // An older version changes nothing.
  await hot.apply(latestOf([setOf(1, { type: 'token', token })]), headOf(setOf(3)))
  assert.deepEqual(await ranks(), [[], ['0xcc'], ['0xcc']])
})

test('an older write does not bring back what was removed; the tombstone does not stay for ever', async () => {
  const pair = buildPair(dice, pool, 5)
  const token = buildToken(dice, '0xbb', 5)
  const created = setOf(1, { type: 'pair', pair }, { type: 'token', token }, putCandle(candleAt(60)))
  const removed = setOf(
    2,
    { type: 'pairRemoved', pair: '0xaa' },
    { type: 'tokenRemoved', token: '0xbb' },
    dropCandle(candleAt(60)),
  )
  await applyAll([created], 1)
  assert.deepEqual(await hot.topPairs('eth', '0xcc', 5), ['0xaa'])
  await applyAll([removed], 1)
  await hot.apply(latestOf([created]), headOf(removed))
  assert.deepEqual(await hot.pairs([{ chain: 'eth', address: '0xaa' }]), [undefined])
  assert.deepEqual(await hot.tokens([{ chain: 'eth', address: '0xbb' }]), [undefined])
  assert.deepEqual(await hot.candles([k1]), [undefined])
  assert.deepEqual(await hot.topPairs('eth', '0xbb', 5), [])
  assert.deepEqual(await hot.topPairs('eth', '0xcc', 5), [])
  for (const key of ['pair:eth:0xaa', 'token:eth:0xbb']) {
    const seconds = await raw.ttl(`test:${key}`)
    assert.ok(seconds > 3_500 && seconds <= 3_600, `${key}: ${seconds}`)
  }
  await applyAll([setOf(3, { type: 'pair', pair })], 1)
  assert.equal(await raw.ttl('test:pair:eth:0xaa'), -1)
  assert.deepEqual(await hot.topPairs('eth', '0xcc', 5), ['0xaa'])
})

test('a pair that comes back with other tokens leaves the ranks of the old ones', async () => {
  const pair = buildPair(dice, pool, 5)
  const other = buildPair(dice, { address: '0xaa', token0: '0xdd', token1: '0xcc' }, 6)
  await applyAll([setOf(1, { type: 'pair', pair })], 1)
  await applyAll(
    [setOf(2, { type: 'pairRemoved', pair: '0xaa' }), setOf(3, { type: 'pair', pair: other })],
    2,
  )
  assert.deepEqual(await hot.topPairs('eth', '0xbb', 5), [])
  assert.deepEqual(await hot.topPairs('eth', '0xdd', 5), ['0xaa'])
  assert.deepEqual(await hot.topPairs('eth', '0xcc', 5), ['0xaa'])
})

test('pairs are ranked by value; unknown comes last; the limit holds', async () => {
  const pairs = [5n, undefined, 10n ** 60n, 0n, 7n].map((tvlUsd, i) => ({
    ...buildPair(dice, { ...pool, address: `0x0${i}` }, 5),
    tvlUsd,
  }))
  await applyAll([setOf(1, ...pairs.map((pair): Change => ({ type: 'pair', pair })))], 1)
  assert.deepEqual(await hot.topPairs('eth', '0xbb', 10), ['0x02', '0x04', '0x00', '0x03', '0x01'])
  assert.deepEqual(await hot.topPairs('eth', '0xbb', 2), ['0x02', '0x04'])
  assert.deepEqual(await hot.topPairs('eth', '0xbb', 0), [])
})

test('answers come in the order that was asked for, unknown ones in their places', async () => {
  const token = buildToken(dice, '0xbb', 5)
  await applyAll([setOf(4, { type: 'token', token })], 1)
  const refs = ['0x00', '0xbb', '0x01', '0xbb'].map((address) => ({ chain: 'eth', address }))
  const known = { seq: 4, record: token }
  assert.deepEqual(await hot.tokens(refs), [undefined, known, undefined, known])
  assert.deepEqual(await hot.tokens([]), [])
})

test('the head never goes back', async () => {
  const [older, newer] = [setOf(5), setOf(9)]
  await hot.apply(latestOf([newer]), headOf(newer))
  await hot.apply(latestOf([older]), headOf(older))
  assert.deepEqual(await hot.head('eth'), headOf(newer))
})

test('lost data is noticed by the next write, not papered over by a new head', async () => {
  const [first, second] = [setOf(5), setOf(9)]
  await hot.apply(latestOf([first]), headOf(first))
  await raw.flushall()
  await assert.rejects(
    hot.apply(latestOf([second]), headOf(second)),
    (error) => error instanceof ChaintapeError && error.code === 'store_unavailable',
  )
  assert.equal(await hot.head('eth'), undefined)
  await hot.apply(latestOf([first, second]), headOf(second))
  assert.equal((await hot.head('eth'))?.seq, 9)
})

test('after a head was seen, reads fail while Redis has lost it, and until it is reached again', async () => {
  const reader = await openHotStore({ url: stack.redisUrl, prefix: 'test' }, common)
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
    await hot.apply(latestOf(sets), heads[1])
    await reader.head('eth')
    await Promise.all(reads())
    await raw.flushall()
    await expectRefused()
    await assert.rejects(hot.apply(latestOf([]), heads[1]), { code: 'store_unavailable' })
    await hot.apply(latestOf(sets.slice(0, 1)), heads[0])
    assert.equal((await reader.head('eth'))?.seq, 5)
    await expectRefused()
    await hot.apply(latestOf(sets.slice(1)), heads[1])
    const [stored] = await reader.pairs([{ chain: 'eth', address: '0xaa' }])
    assert.equal(stored?.seq, 9)
    // Another chain is another matter.
    assert.deepEqual(await reader.topPairs('bsc', '0xbb', 5), [])
  } finally {
    await reader.close()
  }
})

test('a document of another layout is an error, not a guess', async () => {
  await raw.set('test:token:eth:0xbb', '2:5\nxyz')
  await assert.rejects(
    hot.tokens([{ chain: 'eth', address: '0xbb' }]),
    (error) => error instanceof ChaintapeError && error.code === 'message_unreadable',
  )
})

test('while Redis is away commands fail at once, and work again by themselves when it is back', async () => {
  const isUnavailable = (error: unknown): boolean =>
    error instanceof ChaintapeError && error.code === 'store_unavailable'
  await assert.rejects(openHotStore({ url: 'redis://127.0.0.1:1', prefix: 'test' }, common), isUnavailable)
  await stack.kill('redis')
  const startedAt = performance.now()
  await assert.rejects(hot.head('eth'), isUnavailable)
  await assert.rejects(hot.apply(latestOf([setOf(1)]), headOf(setOf(1))), isUnavailable)
  assert.ok(performance.now() - startedAt < 1_000)
  await stack.restart('redis')
  for (let attempt = 0; ; attempt++) {
    try {
      await hot.apply(latestOf([setOf(1)]), headOf(setOf(1)))
      break
    } catch (error) {
      assert.ok(isUnavailable(error) && attempt < 100)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  assert.equal((await hot.head('eth'))?.seq, 1)
})
