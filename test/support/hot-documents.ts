import assert from 'node:assert/strict'
import type { HotStore } from '../../src/store/redis/hot-store.ts'
import { type Kept, newestCandles, type World } from './story.ts'

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

  const newest = newestCandles(world)
  const candles = [...new Set([...newest.keys(), ...newestCandles(gone).keys()])]
  const found = await hot.candles(
    candles.map((id) => {
      const [pair, interval] = id.split('/') as [string, 'k1']
      return { chain, pair, interval }
    }),
  )
  assert.deepEqual(found, expected(newest, candles))

  for (const token of tokens) {
    assert.deepEqual(await hot.topPairs(chain, token, 1_000), rankedPairs(world, token), `pairs of ${token}`)
  }
}

function rankedPairs(world: World, token: string): string[] {
  const score = (address: string): bigint => world.pairs.get(address)?.record.tvlUsd ?? -1n
  return [...world.pairs.values()]
    .filter(({ record }) => record.token0.token === token || record.token1.token === token)
    .map(({ record }) => record.address)
    .sort((a, b) => {
      const difference = score(b) - score(a)
      if (difference !== 0n) return difference > 0n ? 1 : -1
      // Redis ranks equals by name, here from the end.
      return a < b ? 1 : -1
    })
}

function expected<T>(kept: Kept<T>, ids: readonly string[]) {
  return ids.map((id) => kept.get(id))
}
