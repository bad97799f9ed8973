import type { Redis } from 'ioredis'
import type { ChangeSet } from '../../../src/domain/change.ts'
import { INTERVALS } from '../../../src/domain/interval.ts'
import { TOKEN_RANKS } from '../../../src/store/document-reads.ts'
import type { HotStore } from '../../../src/store/redis/hot-store.ts'

/** A key of Redis with its value, as bytes. */
export type RecordedKey =
  | { readonly key: string; readonly type: 'string'; readonly value: Uint8Array }
  | { readonly key: string; readonly type: 'zset'; readonly members: readonly string[] }
  | {
      readonly key: string
      readonly type: 'hash'
      readonly fields: readonly (readonly [string, Uint8Array])[]
    }

export async function readKeys(redis: Redis, prefix: string): Promise<RecordedKey[]> {
  const keys = (await redis.keys(`${prefix}:*`)).sort()
  return Promise.all(
    keys.map(async (key): Promise<RecordedKey> => {
      switch (await redis.type(key)) {
        case 'zset':
          return { key, type: 'zset', members: await redis.zrange(key, '0', '-1', 'WITHSCORES') }
        case 'hash':
          return { key, type: 'hash', fields: Object.entries(await redis.hgetallBuffer(key)).sort() }
        default:
          return { key, type: 'string', value: (await redis.getBuffer(key)) ?? Buffer.alloc(0) }
      }
    }),
  )
}

export async function writeKeys(redis: Redis, keys: readonly RecordedKey[]): Promise<void> {
  for (const each of keys) {
    if (each.type === 'string') await redis.set(each.key, Buffer.from(each.value))
    else if (each.type === 'hash')
      for (const [field, value] of each.fields) await redis.hset(each.key, field, Buffer.from(value))
    else
      for (let at = 0; at < each.members.length; at += 2)
        await redis.zadd(each.key, each.members[at + 1] as string, each.members[at] as string)
  }
}

/** The ids of a chain's documents. */
export type DocumentIds = {
  readonly chain: string
  readonly pairs: readonly string[]
  readonly tokens: readonly string[]
  readonly contracts: readonly string[]
}

export function idsOf(chain: string, sets: readonly ChangeSet[]): DocumentIds {
  const changes = sets.flatMap((set) => set.changes)
  const idsBy = (idOf: (change: (typeof changes)[number]) => string | undefined): string[] => [
    ...new Set(changes.flatMap((change) => idOf(change) ?? [])),
  ]
  return {
    chain,
    pairs: idsBy((change) => (change.type === 'pair' ? change.pair.address : undefined)),
    tokens: idsBy((change) => (change.type === 'token' ? change.token.address : undefined)),
    contracts: idsBy((change) => (change.type === 'contract' ? change.contract.token : undefined)),
  }
}

/** Everything that a gateway reads of a chain. */
export async function readDocuments(hot: HotStore, ids: DocumentIds): Promise<unknown> {
  const { chain } = ids
  const refs = (addresses: readonly string[]) => addresses.map((address) => ({ chain, address }))
  const series = ids.pairs.flatMap((pair) => INTERVALS.map((interval) => ({ chain, pair, interval })))
  return {
    head: await hot.head(chain),
    pairs: await hot.pairs(refs(ids.pairs)),
    tokens: await hot.tokens(refs(ids.tokens)),
    contracts: await hot.contracts(refs(ids.contracts)),
    pairWindows: await hot.windows(refs(ids.pairs).map((ref) => ({ ...ref, kind: 'pair' }))),
    tokenWindows: await hot.windows(refs(ids.tokens).map((ref) => ({ ...ref, kind: 'token' }))),
    candles: await hot.candles(series),
    recentCandles: await Promise.all(series.map((ref) => hot.recentCandles(ref, 300))),
    topPairs: await Promise.all(ids.tokens.map((token) => hot.topPairs(chain, token, 10))),
    topTokens: await Promise.all(TOKEN_RANKS.map((rank) => hot.topTokens(chain, rank, 10))),
  }
}
