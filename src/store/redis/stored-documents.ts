import type { ChainHead } from '../../domain/chain-head.ts'
import type { Common } from '../../lib/common.ts'
import { type RecentCandles, readSeries } from './candle-series.ts'
import { connectRedis, type RedisOptions } from './connect.ts'
import { createConsistentReads } from './consistent-reads.ts'
import { type DocumentKind, Keys, type SeriesRef } from './keys.ts'
import { storedSeq } from './stored-value.ts'
import { createWriting } from './writing.ts'

export type DocumentRef = { readonly kind: Exclude<DocumentKind, 'candles'>; readonly address: string }

/** A document as bytes; without a body it is a tombstone. */
export type StoredDocument = { readonly seq: number; readonly body: Buffer }

/** Documents as Redis holds them, to be compared with what it should hold. Reads only. */
export type StoredDocuments = {
  head(chain: string): Promise<ChainHead | undefined>
  documents(chain: string, refs: readonly DocumentRef[]): Promise<(StoredDocument | undefined)[]>
  candles(ref: SeriesRef, limit: number): Promise<RecentCandles | undefined>
  close(): Promise<void>
}

const LINE_END = 10

export async function openStoredDocuments(
  options: RedisOptions & { readonly prefix: string },
  common: Common,
): Promise<StoredDocuments> {
  const redis = await connectRedis(options, common)
  const keys = new Keys(options.prefix)
  // Only its head is read here; the limits are of no effect.
  const { head: readHead } = createWriting(redis, keys, { recentCandles: 1, idleSeconds: 1 })
  const reads = createConsistentReads(redis, keys)
  return {
    head: async (chain) => {
      const head = await readHead(chain)
      if (head !== undefined) reads.saw(chain, head.seq)
      return head
    },
    documents: async (chain, refs) => {
      const prefixes = keys.prefixes(chain)
      const names = refs.map(({ kind, address }) => `${prefixes[kind]}${address}`)
      const values = await reads.values([chain], names)
      return values.map((value) => {
        if (value === null) return undefined
        return { seq: storedSeq(value), body: value.subarray(value.indexOf(LINE_END) + 1) }
      })
    },
    candles: async (ref, limit) => {
      const { chain, pair, interval } = ref
      const key = keys.candles({ chain, address: pair })
      const [fields] = await reads.answers(chain, (commands) =>
        commands.hmgetBuffer(key, interval, `${interval}:tail`, `${interval}:packed`),
      )
      const [open, tail, packed] = fields as (Buffer | null)[]
      return readSeries({ open, tail, packed }, ref, limit)
    },
    close: async () => {
      if (redis.status === 'ready') await redis.quit()
      else redis.disconnect()
    },
  }
}
