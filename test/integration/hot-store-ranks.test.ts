import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../src/domain/change.ts'
import { buildPair, buildToken, buildWindows } from '../support/builders/change-builders.ts'
import { latestOf } from '../support/reference/rows-of-sets.ts'
import { dice, HotStoreRig, headOf, pool, setOf } from './hot-store-rig.ts'

const rig = new HotStoreRig()

test('tokens of launch platforms are ranked in their groups, in whatever order their documents arrive', async () => {
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
        rig.hot.topTokens('eth', `${group}/${by}`, 9),
      ),
    )
  await rig.applyAll([setOf(1, launched('0xbb', 7n, 799_999), traded('0xcc', 10n))], 1)
  await rig.applyAll([setOf(2, traded('0xbb', 50n), launched('0xcc', 9n, 800_000))], 1)
  const both = [
    ['0xbb', '0xcc'],
    ['0xcc', '0xbb'],
  ] as const
  assert.deepEqual(await ranks('fourmeme_in'), [...both, ['0xcc', '0xbb'], ['0xcc']])
  assert.deepEqual(await ranks('meme'), [...both, [], []])
  await rig.applyAll([setOf(3, launched('0xcc', 9n, 1_000_000, 20))], 1)
  assert.deepEqual(await ranks('fourmeme_in'), [['0xbb'], ['0xbb'], ['0xbb'], []])
  assert.deepEqual(await ranks('fourmeme_out'), [['0xcc'], ['0xcc'], ['0xcc'], []])
  assert.deepEqual(await ranks('meme'), [...both, [], []])
  // A fork brings it back to its curve; then nobody trades it any more, and at last it is gone.
  await rig.applyAll([setOf(4, launched('0xcc', 9n, 900_000))], 1)
  assert.deepEqual(await ranks('fourmeme_out'), [[], [], [], []])
  await rig.applyAll([setOf(5, traded('0xcc', 0n))], 1)
  assert.deepEqual(await ranks('fourmeme_in'), [['0xbb'], ['0xcc', '0xbb'], ['0xcc', '0xbb'], ['0xcc']])
  await rig.applyAll([setOf(6, { type: 'tokenRemoved', token: '0xbb' })], 1)
  assert.deepEqual(await ranks('meme'), [[], ['0xcc'], [], []])
})

test('tokens are ranked by volume, FDV and TVL of the main pair, and leave a rank when they lose that value', async () => {
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
    Promise.all(
      (['volume_24h', 'fdv', 'main_pair_tvl'] as const).map((by) => rig.hot.topTokens('eth', by, 9)),
    )
  const shared = windowsOf('0xbb', 50n)
  await rig.applyAll(
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
  assert.deepEqual(await rig.hot.topTokens('eth', 'fdv', 1), ['0xcc'])
  const windowsRef = (kind: 'pair' | 'token', address: string) => ({ chain: 'eth', kind, address }) as const
  assert.deepEqual(
    await rig.hot.windows([
      windowsRef('pair', '0xaa'),
      windowsRef('token', '0xbb'),
      windowsRef('token', '0xaa'),
    ]),
    [{ seq: 1, record: shared }, { seq: 1, record: shared }, undefined],
  )

  await rig.applyAll(
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
  await rig.applyAll(
    [setOf(3, { type: 'tokenRemoved', token: '0xbb' }, { type: 'windowsRemoved', windows: shared })],
    1,
  )
  assert.deepEqual(await ranks(), [[], ['0xcc'], ['0xcc']])
  // An older version changes nothing.
  await rig.hot.apply(latestOf([setOf(1, { type: 'token', token })]), headOf(setOf(3)))
  assert.deepEqual(await ranks(), [[], ['0xcc'], ['0xcc']])
})

test('a pair that comes back with other tokens leaves the ranks of the old ones', async () => {
  const pair = buildPair(dice, pool, 5)
  const other = buildPair(dice, { address: '0xaa', token0: '0xdd', token1: '0xcc' }, 6)
  await rig.applyAll([setOf(1, { type: 'pair', pair })], 1)
  await rig.applyAll(
    [setOf(2, { type: 'pairRemoved', pair: '0xaa' }), setOf(3, { type: 'pair', pair: other })],
    2,
  )
  assert.deepEqual(await rig.hot.topPairs('eth', '0xbb', 5), [])
  assert.deepEqual(await rig.hot.topPairs('eth', '0xdd', 5), ['0xaa'])
  assert.deepEqual(await rig.hot.topPairs('eth', '0xcc', 5), ['0xaa'])
})

test('pairs are ranked by TVL, unknown last, up to the limit', async () => {
  const pairs = [5n, undefined, 10n ** 60n, 0n, 7n].map((tvlUsd, i) => ({
    ...buildPair(dice, { ...pool, address: `0x0${i}` }, 5),
    tvlUsd,
  }))
  await rig.applyAll([setOf(1, ...pairs.map((pair): Change => ({ type: 'pair', pair })))], 1)
  assert.deepEqual(await rig.hot.topPairs('eth', '0xbb', 10), ['0x02', '0x04', '0x00', '0x03', '0x01'])
  assert.deepEqual(await rig.hot.topPairs('eth', '0xbb', 2), ['0x02', '0x04'])
  assert.deepEqual(await rig.hot.topPairs('eth', '0xbb', 0), [])
})
