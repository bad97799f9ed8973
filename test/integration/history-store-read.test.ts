import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import type { Change } from '../../src/domain/change.ts'
import { compareOrderKeys } from '../../src/domain/order-key.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { type HistoryStore, openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import {
  type EventPlace,
  type EventsQuestion,
  type HistoryReader,
  openHistoryReader,
} from '../../src/store/clickhouse/read/history-reader.ts'
import type { Versioned } from '../../src/store/versioned.ts'
import { BUSY_PAIR, type BusyPair, fillBusyPair, timeOf } from '../support/builders/busy-pair.ts'
import { buildTrade, Dice } from '../support/builders/change-builders.ts'
import { storySets, type VersionedTable, type World } from '../support/builders/story.ts'
import { rowsOfSets } from '../support/reference/rows-of-sets.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

let stack: Stack
let client: ClickHouseClient
const common = createTestCommon()

before(async () => {
  stack = await startStack({ services: ['clickhouse'] })
  client = createClient({ url: stack.clickhouseUrl })
})

after(async () => {
  await client?.close()
  await stack?.stop()
})

async function withHistory(
  database: string,
  work: (store: HistoryStore, reader: HistoryReader) => Promise<void>,
): Promise<void> {
  const options = { url: stack.clickhouseUrl, database, username: 'default', password: '' }
  await migrate(options, common)
  const store = openHistoryStore(options, common)
  const reader = openHistoryReader(options)
  try {
    await work(store, reader)
  } finally {
    await store.close()
    await reader.close()
  }
}

function newestFirst<T>(
  table: VersionedTable<T>,
  belongs: (record: T) => boolean,
  order: (a: T, b: T) => number,
) {
  return [...table.values()].filter(({ record }) => belongs(record)).sort((a, b) => order(b.record, a.record))
}

type Event = { readonly pair: string } & EventPlace

async function readAll<T extends Event>(
  read: (question: EventsQuestion) => Promise<Versioned<T>[]>,
  question: { chain: string; upTo: number; pair: string },
  limit: number,
): Promise<Versioned<T>[]> {
  const events: Versioned<T>[] = []
  for (let before: EventPlace | undefined; ; ) {
    const page = await read({ ...question, before, limit })
    events.push(...page)
    before = page.at(-1)?.record
    if (page.length < limit) return events
  }
}

/** Every read equals the state of the world at that version. */
async function assertRead(reader: HistoryReader, world: World, all: World, upTo: number): Promise<void> {
  const byPlace = (a: Event, b: Event): number => a.time - b.time || compareOrderKeys(a.key, b.key)
  for (const pair of all.pairs.keys()) {
    const question = { chain: 'eth', upTo, pair }
    const isOwn = (record: { readonly pair: string }): boolean => record.pair === pair
    assert.deepEqual(await readAll(reader.trades, question, 9), newestFirst(world.trades, isOwn, byPlace))
    assert.deepEqual(
      await readAll(reader.liquidity, question, 5),
      newestFirst(world.liquidity, isOwn, byPlace),
    )
    for (const interval of ['s1', 'k60', 'k10080'] as const) {
      const candles = newestFirst(
        world.candles,
        (candle) => isOwn(candle) && candle.interval === interval,
        (a, b) => a.start - b.start,
      )
      const ask = (from: number, to: number, limit: number) =>
        reader.candles({ ...question, interval, from, to, limit })
      assert.deepEqual(await ask(0, 2 ** 32 - 1, 1_000), candles)
      assert.deepEqual(await ask(0, 2 ** 32 - 1, 2), candles.slice(0, 2))
      const [second, last] = [candles[1], candles.at(-1)]
      if (second === undefined || last === undefined) continue
      assert.deepEqual(await ask(last.record.start + 1, second.record.start, 1_000), candles.slice(1, -1))
    }
  }
  for (const token of all.tokens.keys()) {
    const switches = newestFirst(
      world.switches,
      (to) => to.token === token,
      (a, b) => a.block - b.block,
    )
    const question = { chain: 'eth', upTo, token }
    assert.deepEqual(await reader.switches({ ...question, limit: 1_000 }), switches)
    assert.deepEqual(await reader.switches({ ...question, limit: 1 }), switches.slice(0, 1))
  }
}

test('the newest versions are read, page by page, and nothing above the bound', async () => {
  await withHistory('read', async (store, reader) => {
    const messages = 40
    const { sets, world } = storySets({ chain: 'eth', seed: 41, messages })
    assert.ok(sets.filter(({ cause }) => cause === 'undo').length > 2)
    // So that older versions stay.
    await client.command({ query: 'SYSTEM STOP MERGES' })
    for (const set of sets) await store.write(rowsOfSets([set]))
    for (const count of [25, messages]) {
      const { sets: early, world: then } = storySets({ chain: 'eth', seed: 41, messages: count })
      await assertRead(reader, then, world, early.at(-1)?.seq ?? 0)
    }
    await client.command({ query: 'SYSTEM START MERGES' })
    for (const table of ['trades', 'liquidity', 'candles', 'switches']) {
      await client.command({ query: `OPTIMIZE TABLE read.${table} FINAL` })
    }
    await assertRead(reader, world, world, sets.at(-1)?.seq ?? 0)
    const nothing = { chain: 'bsc', upTo: 1_000, pair: [...world.pairs.keys()][0] ?? '' }
    assert.deepEqual(await reader.trades({ ...nothing, before: undefined, limit: 5 }), [])
  })
})

test('a row that the marker does not vouch for is not read', async () => {
  await withHistory('unmarked', async (store, reader) => {
    const [set] = storySets({ chain: 'eth', seed: 42, messages: 1 }).sets
    assert.ok(set !== undefined && (await reader.marker('eth')) === undefined)
    await store.write(rowsOfSets([set]))
    const pair = set.changes.find((change) => change.type === 'trade')?.trade.pair ?? ''
    const question = { chain: 'eth', pair, before: undefined, limit: 10 }
    assert.deepEqual(await reader.trades({ ...question, upTo: set.seq - 1 }), [])
    const { chain, seq, finalNumber } = set
    await store.commit({
      chain,
      seq,
      ...set.head,
      finalNumber,
      position: { epoch: 'e', sequence: 1, link: 1 },
    })
    const upTo = (await reader.marker('eth'))?.seq ?? 0
    assert.ok((await reader.trades({ ...question, upTo })).length > 0)
  })
})

test('rows are retained as configured, and forever by default', async () => {
  const options = { url: stack.clickhouseUrl, database: 'retention', username: 'default', password: '' }
  const now = Math.floor(Date.now() / 1_000)
  const dice = new Dice(8)
  const pool = { address: '0xaa', token0: '0xbb', token1: '0xcc' }
  const trade = (days: number): Change => ({
    type: 'trade',
    trade: buildTrade(dice, pool, { block: 1_000 - days, tx: 0, log: 0 }, now - days * 86_400),
  })
  const ttl = async (): Promise<string[]> => {
    const answer = await client.query({
      query: `SELECT name FROM system.tables WHERE database = 'retention' AND engine_full LIKE '% TTL %' ORDER BY name`,
      format: 'JSONEachRow',
    })
    return (await answer.json<{ name: string }>()).map(({ name }) => name)
  }
  const count = async (): Promise<number> => {
    await client.command({ query: 'OPTIMIZE TABLE retention.trades FINAL' })
    const answer = await client.query({
      query: 'SELECT count() AS n FROM retention.trades',
      format: 'JSONEachRow',
    })
    return Number((await answer.json<{ n: string }>())[0]?.n)
  }
  await migrate(options, common)
  const store = openHistoryStore(options, common)
  try {
    const changes = [trade(1), trade(100), trade(101)]
    const head = { number: 1, hash: '0x01', time: now }
    await store.write(rowsOfSets([{ chain: 'eth', seq: 1, cause: 'block', head, finalNumber: 0, changes }]))
    assert.deepEqual([await ttl(), await count()], [[], 3])
    const lines = common.lines.length
    await migrate({ ...options, retention_days: { trades: 60, candles: 9 } }, common)
    await migrate({ ...options, retention_days: { trades: 60, candles: 9 } }, common)
    const changed = common.lines.slice(lines).filter(({ msg }) => msg === 'Retention changed')
    assert.deepEqual(changed.map((line) => line['table']).sort(), ['candles', 'trades'])
    assert.deepEqual([await ttl(), await count()], [['candles', 'trades'], 1])
    await migrate(options, common)
    assert.deepEqual(await ttl(), [])
  } finally {
    await store.close()
  }
})

const GRANULE = 512
const ALL_VERSIONS = 1e12

/** What the whole server has read until now; nobody else uses it. */
async function selected(): Promise<{ rows: number; parts: number }> {
  const answer = await client.query({
    query: `SELECT event, value FROM system.events WHERE event IN ('SelectedRows', 'SelectedParts')`,
    format: 'JSONEachRow',
  })
  const events = new Map(
    (await answer.json<{ event: string; value: string }>()).map(({ event, value }) => [event, Number(value)]),
  )
  return { rows: events.get('SelectedRows') ?? 0, parts: events.get('SelectedParts') ?? 0 }
}

async function assertCheap(wanted: number, read: () => Promise<readonly unknown[]>): Promise<void> {
  // To ask for the count adds to it.
  const [first, second] = [await selected(), await selected()]
  const { length } = await read()
  const after = await selected()
  assert.equal(length, wanted)
  const rows = after.rows - second.rows - (second.rows - first.rows)
  const parts = after.parts - second.parts
  const most = wanted >= 1_000 ? 20 * wanted : 3 * GRANULE * parts
  assert.ok(rows <= most, `${wanted} rows: ${rows} of ${parts} parts were read, more than ${most}`)
}

// `npm run bench -- history` reads the same from five million rows.
const busyPairs: readonly BusyPair[] = [
  { rows: 48_000, months: 12, parts: 1 },
  { rows: 48_000, months: 3, parts: 10, removedEvery: 40, changedEvery: 20 },
]

for (const busy of busyPairs) {
  const { rows, months, parts } = busy
  test(`a page reads little more than it returns: ${months} months, ${parts} parts`, async () => {
    const database = `busy_${months}_${parts}`
    await withHistory(database, async (_, reader) => {
      const own = createClient({ url: stack.clickhouseUrl, database })
      try {
        for (const table of ['trades', 'liquidity', 'candles'] as const) await fillBusyPair(own, table, busy)
      } finally {
        await own.close()
      }
      const [first, middle, last] = [0, rows / 2, rows - 1].map((index) => timeOf(busy, index)) as [
        number,
        number,
        number,
      ]
      const question = { chain: 'eth', upTo: ALL_VERSIONS, pair: BUSY_PAIR, activity: { first, last } }
      const place = { time: middle, key: { block: 18_000_000 + rows / 2, tx: 0, log: 0 } }
      for (const limit of [100, 1_000]) {
        for (const before of [undefined, place]) {
          await assertCheap(limit, () => reader.trades({ ...question, before, limit }))
          await assertCheap(limit, () => reader.liquidity({ ...question, before, limit }))
        }
        for (const to of [2 ** 32 - 1, middle]) {
          const series = { ...question, interval: 's1' as const, from: 0, to, limit }
          await assertCheap(limit, () => reader.candles(series))
        }
      }
    })
  })
}

test('smaller granules take over every row, after a crash at any step', async () => {
  const database = 'granules'
  const options = { url: stack.clickhouseUrl, database, username: 'default', password: '' }
  await migrate(options, common)
  const own = createClient({ url: stack.clickhouseUrl, database })
  const run = (query: string): Promise<unknown> => own.command({ query })
  const create = (name: string, granularity: number): Promise<unknown> =>
    run(`CREATE TABLE ${name} AS trades ENGINE = ReplacingMergeTree(seq, is_deleted)
      PARTITION BY (chain, toYYYYMM(time)) ORDER BY (chain, pair, time, block, tx, log)
      SETTINGS fsync_after_insert = 1, index_granularity = ${granularity}`)
  const state = async (): Promise<unknown> => {
    const query = `SELECT name, toUInt32(extract(engine_full, 'index_granularity = ([0-9]+)')) AS granularity,
        (SELECT toUInt32(count()) FROM trades FINAL) AS rows
      FROM system.tables WHERE database = '${database}' AND name LIKE 'trades%'`
    return (await own.query({ query, format: 'JSONEachRow' })).json()
  }
  const busy = { rows: 3_000, months: 3, parts: 1 }
  try {
    // Before the first step; with a replacement that was not finished; and exchanged, but the old table is still there.
    for (const step of ['old', 'half', 'exchanged']) {
      await create('coarse', 8_192)
      await run('DROP TABLE trades SYNC')
      await run('RENAME TABLE coarse TO trades')
      await fillBusyPair(own, 'trades', busy)
      if (step !== 'old') await create('trades_g512', 512)
      if (step === 'half') await run(`INSERT INTO trades_g512 SELECT * FROM trades WHERE block % 3 = 0`)
      if (step === 'exchanged') await run('EXCHANGE TABLES trades AND trades_g512')
      await Promise.all([migrate(options, common), migrate(options, common)])
      assert.deepEqual(await state(), [{ name: 'trades', granularity: 512, rows: busy.rows }], step)
    }
  } finally {
    await own.close()
  }
})
