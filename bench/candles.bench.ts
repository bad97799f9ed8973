import { isDeepStrictEqual } from 'node:util'
import { createClient } from '@clickhouse/client'
import type { Candle, Change, ChangeSet } from '../src/domain/change.ts'
import { type Stack, startStack } from '../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../src/store/clickhouse/history-store.ts'
import { migrate } from '../src/store/clickhouse/migrate.ts'
import { type CandlesQuestion, openHistoryReader } from '../src/store/clickhouse/read/history-reader.ts'
import { candleOf, number, type Row } from '../src/store/clickhouse/read/records.ts'
import { openHotStore } from '../src/store/redis/hot-store.ts'
import type { Versioned } from '../src/store/versioned.ts'
import { latestOf, rowsOfSets } from '../test/support/reference/rows-of-sets.ts'
import { sized } from './form.ts'
import { type Bench, repeatAsync, type Sides, type Slice } from './measure.ts'
import { makeCandle } from './stores/made-changes.ts'
import { historyOptions, silentCommon } from './stores/opened.ts'

const PAIRS = sized({ full: 100, short: 100, smoke: 5 })
const CANDLES = 300
/** Each with a version of every candle, and none of them merged: the worst that a reader meets. */
const PARTS = 3
const FIRST_START = 1_750_000_020

const candlesOf = (pair: number, version: number): Candle[] =>
  Array.from({ length: CANDLES }, (_, i) => {
    const ref = {
      pair: `0x${String(pair).padStart(40, '0')}`,
      interval: 'k1',
      start: FIRST_START + i * 60,
    } as const
    return makeCandle(ref, { block: 20_000_000 + i, tx: 1, log: 2 }, BigInt(i * 10 + version))
  })

const question: CandlesQuestion = {
  ...{ chain: 'eth', upTo: PARTS, pair: `0x${String(3).padStart(40, '0')}`, interval: 'k1' },
  ...{ from: 0, to: FIRST_START + CANDLES * 60, limit: CANDLES },
}
const expected = candlesOf(3, PARTS)
  .map((record): Versioned<Candle> => ({ seq: PARTS, record }))
  .reverse()

/** What the deduplicated read does, but for the deduplication. */
const PLAIN_READ = `
  SELECT * FROM candles
  WHERE chain = {chain:String} AND pair = {pair:String} AND interval = {interval:String}
    AND start >= toDateTime({from:UInt32}, 'UTC') AND start <= toDateTime({to:UInt32}, 'UTC')
  ORDER BY start DESC
  LIMIT {limit:UInt32}`

export const bench: Bench = {
  figures: [
    {
      name: `${CANDLES} candles deduplicated / plain read of as many rows`,
      bar: 0.75,
      goal: 0.85,
      direction: 'at least',
      per: 'wall second',
      open: openDeduplicated,
    },
    {
      name: `${CANDLES} recent candles from Redis / from ClickHouse`,
      bar: 20,
      goal: 100,
      direction: 'at least',
      per: 'wall second',
      open: openRecent,
    },
  ],
}

function setsOf(version: number): ChangeSet[] {
  const changes = Array.from({ length: PAIRS }, (_, pair) => candlesOf(pair, version))
    .flat()
    .map((candle): Change => ({ type: 'candle', candle }))
  const head = { number: version, hash: '0x01', time: FIRST_START }
  return [{ chain: 'eth', seq: version, cause: 'block', head, finalNumber: 0, changes }]
}

async function fillHistory(stack: Stack): Promise<ReturnType<typeof historyOptions>> {
  const common = silentCommon()
  const options = historyOptions(stack.clickhouseUrl, 'candles_bench')
  await migrate(options, common)
  const client = createClient({ url: stack.clickhouseUrl })
  await client.command({ query: 'SYSTEM STOP MERGES' })
  await client.close()
  const store = openHistoryStore(options, common)
  for (let version = 1; version <= PARTS; version++) await store.write(rowsOfSets(setsOf(version)))
  await store.close()
  return options
}

function reading(read: () => Promise<readonly Versioned<Candle>[]>, isRight: typeof isExpected): Slice {
  let last: readonly Versioned<Candle>[] = []
  return repeatAsync(
    async () => {
      last = await read()
      return 1
    },
    () => (isRight(last) ? undefined : 'other candles were read'),
  )
}

function isExpected(candles: readonly Versioned<Candle>[]): boolean {
  return isDeepStrictEqual(candles, expected)
}

async function openDeduplicated(): Promise<Sides> {
  const stack = await startStack({ services: ['clickhouse'] })
  const options = await fillHistory(stack)
  const reader = openHistoryReader(options)
  const client = createClient({ url: stack.clickhouseUrl, database: options.database })
  const readPlain = async (): Promise<Versioned<Candle>[]> => {
    const answer = await client.query({
      query: PLAIN_READ,
      query_params: { ...question },
      format: 'JSONEachRow',
      clickhouse_settings: {
        date_time_output_format: 'unix_timestamp',
        output_format_json_quote_64bit_integers: 1,
        output_format_json_quote_decimals: 1,
      },
    })
    const rows = await answer.json<Row>()
    return rows.map((row) => ({ seq: number(row, 'seq'), record: candleOf(row) }))
  }
  return {
    subject: reading(() => reader.candles(question), isExpected),
    // Every start stands there once for each part.
    baseline: reading(readPlain, (candles) => candles.length === CANDLES),
    close: async () => {
      await Promise.all([reader.close(), client.close()])
      await stack.stop()
    },
  }
}

async function openRecent(): Promise<Sides> {
  const stack = await startStack({ services: ['clickhouse', 'redis'] })
  const options = await fillHistory(stack)
  const reader = openHistoryReader(options)
  const hot = await openHotStore({ url: stack.redisUrl, prefix: 'bench' }, silentCommon())
  for (let version = 1; version <= PARTS; version++) {
    const sets = setsOf(version)
    const { chain, seq, head, finalNumber } = sets[0] as ChangeSet
    await hot.apply(latestOf(sets), {
      chain,
      seq,
      ...head,
      finalNumber,
      position: { epoch: 'e', sequence: seq, link: 1 },
    })
  }
  const readHot = async (): Promise<readonly Versioned<Candle>[]> =>
    (await hot.recentCandles(question, CANDLES))?.candles ?? []
  return {
    subject: reading(readHot, isExpected),
    baseline: reading(() => reader.candles(question), isExpected),
    close: async () => {
      await Promise.all([reader.close(), hot.close()])
      await stack.stop()
    },
  }
}
