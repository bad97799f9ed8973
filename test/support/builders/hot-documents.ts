import assert from 'node:assert/strict'
import type { HotStore } from '../../../src/store/redis/hot-store.ts'
import { latestCandles, type VersionedTable, type World } from './story.ts'

/** Fails unless the documents and ranks are those of the world, and nothing of `gone` is left. */
export async function assertDocuments(
  hot: HotStore,
  chain: string,
  world: World,
  gone: World,
): Promise<void> {
  const addresses = [...new Set([...world.pairs.keys(), ...gone.pairs.keys()])]
  const refs = addresses.map((address) => ({ chain, address }))
  assert.deepEqual(await hot.pairs(refs), expected(world.pairs, addresses))

  const tokens = [...new Set([...world.tokens.keys(), ...gone.tokens.keys()])]
  assert.deepEqual(
    await hot.tokens(tokens.map((address) => ({ chain, address }))),
    expected(world.tokens, tokens),
  )

  const newest = latestCandles(world)
  const candles = [...new Set([...newest.keys(), ...latestCandles(gone).keys()])]
  const found = await hot.candles(
    candles.map((id) => {
      const [pair, interval] = id.split('/') as [string, 'k1']
      return { chain, pair, interval }
    }),
  )
  assert.deepEqual(found, expected(newest, candles))

  const windows = [...new Set([...world.windows.keys(), ...gone.windows.keys()])]
  assert.deepEqual(
    await hot.windows(
      windows.map((id) => {
        const [kind, address] = id.split('/') as ['pair' | 'token', string]
        return { chain, kind, address }
      }),
    ),
    expected(world.windows, windows),
  )

  for (const id of candles) {
    const [pair, interval] = id.split('/') as [string, 'k1']
    const series = await hot.recentCandles({ chain, pair, interval }, 10_000)
    const all = [...world.candles.values()].filter(({ record }) => candleSeries(record) === id)
    const cached = all.filter(({ record }) => record.start >= (series?.from ?? 0))
    assert.ok(series === undefined || series.from === 0 || cached.length > 0)
    const newestFirst = cached.sort((a, b) => b.record.start - a.record.start)
    assert.deepEqual(series?.candles ?? [], newestFirst, `candles of ${id}`)
  }

  for (const rank of ['fdv', 'main_pair_tvl', 'volume_24h'] as const) {
    assert.deepEqual(await hot.topTokens(chain, rank, 1_000), rankedTokens(world, rank), rank)
  }
  for (const group of ['meme', 'fourmeme_in', 'fourmeme_out'] as const) {
    for (const rank of ['volume_24h', 'main_pair_tvl', 'new', 'almost'] as const) {
      const name = `${group}/${rank}` as const
      assert.deepEqual(await hot.topTokens(chain, name, 1_000), rankedInGroup(world, group, rank), name)
    }
  }
  for (const token of tokens) {
    assert.deepEqual(await hot.topPairs(chain, token, 1_000), rankedPairs(world, token), `pairs of ${token}`)
  }
}

function candleSeries({ pair, interval }: { pair: string; interval: string }): string {
  return `${pair}/${interval}`
}

function rankedTokens(world: World, rank: 'fdv' | 'main_pair_tvl' | 'volume_24h'): string[] {
  const scores = new Map<string, bigint>()
  for (const [address, { record }] of world.tokens) {
    const worth = { fdv: record.fdvUsd, main_pair_tvl: record.mainPairTvlUsd, volume_24h: undefined }[rank]
    if (worth !== undefined && worth > 0n) scores.set(address, worth)
  }
  for (const [id, { record }] of rank === 'volume_24h' ? world.windows : []) {
    const [kind, address] = id.split('/') as [string, string]
    const day = record.lengths[5]
    const worth = (day?.buyUsd ?? 0n) + (day?.sellUsd ?? 0n)
    if (kind === 'token' && worth > 0n) scores.set(address, worth)
  }
  return ranked([...scores.keys()], (address) => scores.get(address) ?? 0n)
}

/** The tokens of launch platforms: all of them, those on a curve, those that have left it. */
function rankedInGroup(
  world: World,
  group: 'meme' | 'fourmeme_in' | 'fourmeme_out',
  rank: 'volume_24h' | 'main_pair_tvl' | 'new' | 'almost',
): string[] {
  const platformOf = (address: string) => world.tokens.get(address)?.record.platform
  const isOf = (address: string): boolean => {
    const platform = platformOf(address)
    if (platform === undefined || group === 'meme') return platform !== undefined
    return (platform.graduatedAt === undefined) === (group === 'fourmeme_in')
  }
  if (rank === 'volume_24h' || rank === 'main_pair_tvl') return rankedTokens(world, rank).filter(isOf)
  const scoreOf = (address: string): number | undefined => {
    const { createdAt, progressPpm, graduatedAt } = platformOf(address) ?? {}
    if (group === 'meme') return undefined
    if (rank === 'new') return graduatedAt ?? createdAt
    return graduatedAt === undefined && (progressPpm ?? 0) >= 800_000 ? progressPpm : undefined
  }
  const members = [...world.tokens.keys()].filter(
    (address) => isOf(address) && scoreOf(address) !== undefined,
  )
  return ranked(members, (address) => BigInt(scoreOf(address) ?? 0))
}

function rankedPairs(world: World, token: string): string[] {
  const pairs = [...world.pairs.values()].filter(
    ({ record }) => record.token0.token === token || record.token1.token === token,
  )
  return ranked(
    pairs.map(({ record }) => record.address),
    (address) => world.pairs.get(address)?.record.tvlUsd ?? -1n,
  )
}

function ranked(members: readonly string[], score: (member: string) => bigint): string[] {
  return [...members].sort((a, b) => {
    // As floats, as Redis does it: what differs in the last digits only is equal.
    const difference = Number(score(b)) - Number(score(a))
    if (difference !== 0) return difference
    // Redis ranks equals by name, here from the end.
    return a < b ? 1 : -1
  })
}

function expected<T>(table: VersionedTable<T>, ids: readonly string[]) {
  return ids.map((id) => table.get(id))
}
