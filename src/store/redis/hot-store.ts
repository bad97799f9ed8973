import type { ChainHead } from '../../domain/chain-head.ts'
import type { Candle, ChangeSet, Pair, Token } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { ByteReader } from '../../domain/wire/byte-reader.ts'
import { readCandle } from '../../domain/wire/candle-codec.ts'
import { RECORD_VERSION, readPair, readToken } from '../../domain/wire/record-codec.ts'
import type { Common } from '../../lib/common.ts'
import { connectRedis, guardRedis, type ScriptedRedis } from './connect.ts'
import { type DocumentWrite, documentsOf } from './documents.ts'
import { type AddressRef, type CandleDocumentRef, Keys } from './keys.ts'
import { formatHeader, readStored, type Versioned } from './stored-value.ts'

export type HotStoreOptions = { readonly url: string; readonly prefix: string }

export type { Versioned }

export type HotStore = {
  /**
   * Documents, then the head, of one chain. May be repeated. Fails with `store_unavailable` if the head that was
   * last seen is gone: then Redis has lost its data, and `head` tells what has to be applied again.
   */
  apply(sets: readonly ChangeSet[], head: ChainHead): Promise<void>
  head(chain: string): Promise<ChainHead | undefined>
  pairs(refs: readonly AddressRef[]): Promise<(Versioned<Pair> | undefined)[]>
  tokens(refs: readonly AddressRef[]): Promise<(Versioned<Token> | undefined)[]>
  candles(refs: readonly CandleDocumentRef[]): Promise<(Versioned<Candle> | undefined)[]>
  /** Highest value first; pairs of unknown value come last. */
  topPairs(chain: string, token: string, limit: number): Promise<string[]>
  close(): Promise<void>
}

// Redis serves nobody else while a script runs: a millisecond or two is short enough.
const DOCUMENTS_PER_CALL = 250
const TOMBSTONE_SECONDS = 3_600

export async function openHotStore(options: HotStoreOptions, common: Common): Promise<HotStore> {
  const redis = await connectRedis(options.url, common)
  const keys = new Keys(options.prefix)
  /** The seq of each chain's head when last seen: it only ever grows, unless data was lost. */
  const seen = new Map<string, number>()

  const readMany = async <T>(
    names: readonly string[],
    read: (r: ByteReader) => T,
  ): Promise<(Versioned<T> | undefined)[]> => {
    if (names.length === 0) return []
    const values = await guardRedis(() => redis.mgetBuffer(...names))
    return values.map((value) => readStored(value, read))
  }

  return {
    apply: async (sets, head) => {
      const { chain } = head
      const documents = documentsOf(sets, keys)
      await Promise.all(chunks(documents).map((chunk) => applyChunk(redis, keys.pairsOf(chain, ''), chunk)))
      const value = `${formatHeader(head.seq)}${JSON.stringify(head)}`
      const isWhole = await guardRedis(() =>
        redis.advanceHead(1, keys.head(chain), head.seq, value, seen.get(chain) ?? ''),
      )
      if (isWhole !== 1) {
        seen.delete(chain)
        throw new ChaintapeError('store_unavailable', `Redis has lost the data of chain ${chain}`)
      }
      seen.set(chain, Math.max(head.seq, seen.get(chain) ?? 0))
    },
    head: async (chain) => {
      const value = await guardRedis(() => redis.get(keys.head(chain)))
      const head = value === null ? undefined : parseHead(value)
      if (head === undefined) seen.delete(chain)
      else seen.set(chain, head.seq)
      return head
    },
    pairs: (refs) =>
      readMany(
        refs.map((ref) => keys.pair(ref)),
        readPair,
      ),
    tokens: (refs) =>
      readMany(
        refs.map((ref) => keys.token(ref)),
        readToken,
      ),
    candles: (refs) =>
      readMany(
        refs.map((ref) => keys.candle(ref)),
        readCandle,
      ),
    topPairs: async (chain, token, limit) => {
      if (limit < 1) return []
      return guardRedis(() => redis.zrange(keys.pairsOf(chain, token), 0, String(limit - 1), 'REV'))
    },
    close: async () => {
      if (redis.status === 'ready') await redis.quit()
      else redis.disconnect()
    },
  }
}

async function applyChunk(
  redis: ScriptedRedis,
  rank: string,
  chunk: readonly DocumentWrite[],
): Promise<void> {
  await guardRedis(() =>
    redis.applyDocuments(
      chunk.length,
      ...chunk.map(({ key }) => key),
      RECORD_VERSION,
      TOMBSTONE_SECONDS,
      rank,
      ...chunk.flatMap(({ kind, seq, note, extra, score, body }) => [
        ...[kind, seq, note, extra, score],
        Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      ]),
    ),
  )
}

function chunks(documents: readonly DocumentWrite[]): DocumentWrite[][] {
  const count = Math.ceil(documents.length / DOCUMENTS_PER_CALL)
  return Array.from({ length: count }, (_, i) =>
    documents.slice(i * DOCUMENTS_PER_CALL, (i + 1) * DOCUMENTS_PER_CALL),
  )
}

function parseHead(value: string): ChainHead {
  return JSON.parse(value.slice(value.indexOf('\n') + 1)) as ChainHead
}
