import type { ChainHead } from '../../domain/chain-head.ts'
import type { Candle } from '../../domain/change.ts'
import type { Common } from '../../lib/common.ts'
import type { ByteReader } from '../../wire/byte-reader.ts'
import { reportCodec } from '../../wire/contract-codec.ts'
import { readPair, readToken } from '../../wire/record-codec.ts'
import { readWindows } from '../../wire/windows-codec.ts'
import type { DocumentReads, TokenRank } from '../document-reads.ts'
import { indexVersions } from '../index-versions.ts'
import { type LatestChanges, latestChanges } from '../latest-changes.ts'
import type { CandleScope, LatestPage, Versioned } from '../versioned.ts'
import { type RecentCandles, readOpenCandle, readSeries } from './candle-series.ts'
import { connectRedis, type RedisOptions } from './connect.ts'
import { createConsistentReads } from './consistent-reads.ts'
import { documentsOf, documentsOfPage } from './documents.ts'
import { Keys, pairsOf, type SeriesRef } from './keys.ts'
import { readStored } from './stored-value.ts'
import { createWriting } from './writing.ts'

export type HotStoreOptions = RedisOptions & {
  readonly prefix: string
  /** Minimum number of candles retained per pair and interval. */
  readonly recent_candles?: number
  /** Candles of a pair without trades expire after this time. */
  readonly idle_candles_seconds?: number
}

export type { RecentCandles, TokenRank, Versioned }

/** Reads also fail with `store_unavailable` while Redis has less of a chain than `head` returned before. */
export type HotStore = DocumentReads & {
  /**
   * Writes the documents, then the head, of one chain. Idempotent. Fails with `store_unavailable` if the last seen head is
   * gone: then Redis has lost its data, and `head` returns where to resume.
   */
  apply(latest: LatestChanges, head: ChainHead): Promise<void>
  /** Replaces everything of one chain by the pages of another store, up to this head. */
  rebuild(head: ChainHead, read: (scope: CandleScope) => AsyncIterable<LatestPage>): Promise<void>
  /** Removes everything of a chain. */
  remove(chain: string): Promise<void>
  head(chain: string): Promise<ChainHead | undefined>
  /** The latest candle of each series; also undefined if the series has expired. */
  candles(refs: readonly SeriesRef[]): Promise<(Versioned<Candle> | undefined)[]>
  /** The latest candles of a series, at most `limit`; undefined if there are none or they have expired. */
  recentCandles(ref: SeriesRef, limit: number): Promise<RecentCandles | undefined>
  close(): Promise<void>
}

const RECENT_CANDLES = 300
const IDLE_SECONDS = 86_400

export async function openHotStore(options: HotStoreOptions, common: Common): Promise<HotStore> {
  const redis = await connectRedis(options, common)
  const keys = new Keys(options.prefix)
  const { recent_candles: retained = RECENT_CANDLES, idle_candles_seconds: idleSeconds = IDLE_SECONDS } =
    options
  const writing = createWriting(redis, keys, { recentCandles: retained, idleSeconds })

  const reads = createConsistentReads(redis, keys)

  const readMany = async <T, Ref extends { readonly chain: string }>(
    refs: readonly Ref[],
    nameOf: (ref: Ref) => string,
    read: (r: ByteReader) => T,
  ): Promise<(Versioned<T> | undefined)[]> => {
    const values = await reads.values(
      refs.map(({ chain }) => chain),
      refs.map(nameOf),
    )
    return values.map((value) => readStored(value, read))
  }

  const readRank = async (chain: string, name: string, limit: number): Promise<string[]> => {
    if (limit < 1) return []
    const key = keys.rank(chain, name)
    const [members] = await reads.answers(chain, (commands) =>
      commands.zrange(key, 0, String(limit - 1), 'REV'),
    )
    return members as string[]
  }

  const candlesKey = ({ chain, pair }: SeriesRef): string => keys.candles({ chain, address: pair })

  const recentCandles: HotStore['recentCandles'] = async (ref, limit) => {
    const { interval } = ref
    const [fields] = await reads.answers(ref.chain, (commands) =>
      commands.hmgetBuffer(candlesKey(ref), interval, `${interval}:tail`, `${interval}:packed`),
    )
    const [open, tail, packed] = fields as (Buffer | null)[]
    return readSeries({ open, tail, packed }, ref, limit)
  }

  return {
    apply: async (latest, head) => {
      await writing.write(head.chain, documentsOf(latest))
      await writing.advance(head)
    },
    rebuild: async (head, read) => {
      await writing.clear(head.chain)
      const idleSince = Math.max(0, head.time - idleSeconds)
      for await (const { versions, oldest } of read({ recentCandles: retained, idleSince })) {
        const latest = latestChanges(versions.map(indexVersions))
        await writing.write(head.chain, documentsOfPage(latest, { oldest, idleSince }))
      }
      await writing.advance(head)
    },
    remove: (chain) => writing.remove(chain),
    head: async (chain) => {
      const head = await writing.head(chain)
      if (head !== undefined) reads.saw(chain, head.seq)
      return head
    },
    pairs: (refs) => readMany(refs, (ref) => keys.pair(ref), readPair),
    tokens: (refs) => readMany(refs, (ref) => keys.token(ref), readToken),
    contracts: (refs) => readMany(refs, (ref) => keys.contract(ref), reportCodec.read),
    windows: (refs) => readMany(refs, (ref) => keys.windows(ref), readWindows),
    candles: async (refs) =>
      Promise.all(
        refs.map(async (ref) => {
          const [value] = await reads.answers(ref.chain, (commands) =>
            commands.hgetBuffer(candlesKey(ref), ref.interval),
          )
          if (value === null) return undefined
          // After a reorg, the latest candle is one of the older ones.
          return readOpenCandle(value as Buffer, ref) ?? (await recentCandles(ref, 1))?.candles[0]
        }),
      ),
    recentCandles,
    topPairs: (chain, token, limit) => readRank(chain, pairsOf(token), limit),
    topTokens: (chain, by, limit) => readRank(chain, by, limit),
    close: async () => {
      if (redis.status === 'ready') await redis.quit()
      else redis.disconnect()
    },
  }
}
