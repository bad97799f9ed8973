import { createClient } from '@clickhouse/client'
import { Redis } from 'ioredis'
import { INTERVALS, type Interval } from '../../../src/domain/interval.ts'
import type { Stack } from '../../../src/sandbox/servers/stack.ts'
import { type RecentCandles, readSeries } from '../../../src/store/redis/candle-series.ts'

const TABLES: Record<string, string> = {
  trades: 'chain, pair, time, block, tx, log',
  liquidity: 'chain, pair, time, block, tx, log',
  candles: 'chain, pair, interval, start',
  pairs: 'chain, address',
  tokens: 'chain, address',
  windows: 'chain, kind, id',
  switches: 'chain, token, block',
  balances: 'chain, token, magnitude, holder',
}

/** Every number as text: JSON's own numbers would round the large and the long ones. */
const EXACT = { output_format_json_quote_64bit_integers: 1, output_format_json_quote_decimals: 1 } as const

/** Every row the history store holds for a pipeline, deduplicated, in natural order, all columns. */
export async function storedRows(stack: Stack, database: string): Promise<Record<string, unknown[]>> {
  const client = createClient({ url: stack.clickhouseUrl, database, clickhouse_settings: EXACT })
  try {
    const rows: Record<string, unknown[]> = {}
    for (const [table, order] of Object.entries(TABLES)) {
      const query = `SELECT * FROM ${table} FINAL ORDER BY ${order}`
      rows[table] = await (await client.query({ query, format: 'JSONEachRow' })).json()
    }
    return rows
  } finally {
    await client.close()
  }
}

/** By interval; see `RecentCandles`. */
export type StoredCandles = Readonly<Record<Interval, RecentCandles>>

/**
 * Every hot document of a pipeline, as bytes, by key without the pipeline's prefix; what clients used up is none. Of candles
 * what they say: how much of a series is packed depends on the batches that it came in.
 */
export async function storedDocuments(stack: Stack, prefix: string): Promise<Record<string, unknown>> {
  const redis = new Redis(stack.redisUrl)
  try {
    const documents: Record<string, unknown> = {}
    const ofClients = [`${prefix}:quota:`, `${prefix}:rate:`]
    const isOfClients = (key: string): boolean => ofClients.some((start) => key.startsWith(start))
    const keys = (await redis.keys(`${prefix}:*`)).filter((key) => !isOfClients(key)).sort()
    for (const key of keys) {
      const name = key.slice(prefix.length + 1)
      documents[name] = await readKey(redis, key)
    }
    return documents
  } finally {
    redis.disconnect()
  }
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES')
    case 'hash':
      return candlesOf(await redis.hgetallBuffer(key), key.split(':').at(-1) ?? '')
    default:
      return (await redis.getBuffer(key))?.toString('hex')
  }
}

function candlesOf(fields: Readonly<Record<string, Buffer>>, pair: string): StoredCandles {
  return Object.fromEntries(
    INTERVALS.map((interval) => {
      const [open, tail, packed] = [
        fields[interval],
        fields[`${interval}:tail`],
        fields[`${interval}:packed`],
      ]
      const series = readSeries({ open, tail, packed }, { pair, interval }, Number.POSITIVE_INFINITY)
      return [interval, series ?? { from: 0, candles: [] }]
    }),
  ) as StoredCandles
}

/** What a document is about: `pair`, `token`, `windows`, `candles` and so on. */
export function kindsOf(keys: Iterable<string>): string[] {
  return [...new Set(Array.from(keys, (key) => key.split(':')[0] ?? ''))].sort()
}
