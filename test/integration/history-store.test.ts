import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type ClickHouseClient, ClickHouseError, createClient } from '@clickhouse/client'
import type { ChainHead } from '../../src/domain/chain-head.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { TABLE_NAMES } from '../../src/store/clickhouse/table-names.ts'
import { storySets } from '../support/builders/story.ts'
import { rowsOfSets } from '../support/reference/rows-of-sets.ts'
import { readWorld } from '../support/reference/stored-rows.ts'
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

const optionsOf = (database: string) => ({
  url: stack.clickhouseUrl,
  database,
  username: 'default',
  password: '',
})

async function select<T>(query: string): Promise<T[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json<T>()
}

test('migrations run once, run again after a crash before the record, and refuse a changed file', async () => {
  const options = optionsOf('migrated')
  await Promise.all([migrate(options, common), migrate(options, common)])
  await migrate(options, common)
  const applied = await select<{ name: string }>('SELECT name FROM migrated.migrations FINAL ORDER BY name')
  assert.deepEqual(
    applied.map(({ name }) => name),
    readdirSync(new URL('../../src/store/clickhouse/migrations/', import.meta.url)).sort(),
  )
  await client.command({ query: 'TRUNCATE TABLE migrated.migrations' })
  await migrate(options, common)
  const uncommented = await select<{ table: string; name: string }>(
    `SELECT table, name FROM system.columns WHERE database = 'migrated' AND comment = ''`,
  )
  assert.deepEqual(uncommented, [])

  await client.command({
    query: `INSERT INTO migrated.migrations (name, checksum) VALUES ('0004_pairs.sql', 'other')`,
  })
  await assert.rejects(
    migrate(options, common),
    (error) =>
      error instanceof ChaintapeError && error.code === 'diverged' && /0004_pairs/.test(error.message),
  )
})

test('rows equal the changes, in batches of any size, with repetitions and after merging', async () => {
  for (const [database, seed] of [
    ['history_a', 11],
    ['history_b', 12],
  ] as const) {
    const options = optionsOf(database)
    await migrate(options, common)
    const { sets, world } = storySets({ chain: 'eth', seed, messages: 120 })
    const store = openHistoryStore(options, common)
    try {
      await store.write(rowsOfSets(sets.slice(0, 1)))
      await store.write(rowsOfSets(sets.slice(0, 40)))
      for (const set of sets.slice(40, 60)) await store.write(rowsOfSets([set]))
      await store.write(rowsOfSets(sets.slice(30)))
      assert.deepEqual(await readWorld(stack.clickhouseUrl, database, 'eth'), world)
      // A whole replay, in other batches: nothing may change.
      for (let at = 0; at < sets.length; at += 50) await store.write(rowsOfSets(sets.slice(at, at + 50)))
      assert.deepEqual(await readWorld(stack.clickhouseUrl, database, 'eth'), world)
      for (const table of TABLE_NAMES) {
        await client.command({ query: `OPTIMIZE TABLE ${database}.${table} FINAL` })
      }
      assert.deepEqual(await readWorld(stack.clickhouseUrl, database, 'eth'), world)
    } finally {
      await store.close()
    }
  }
})

test('a removed row is hidden from FINAL and stays removed when an older version is written again', async () => {
  const options = optionsOf('removed')
  await migrate(options, common)
  const { sets } = storySets({ chain: 'eth', seed: 5, messages: 1 })
  const [set] = sets
  assert.ok(set)
  const removals = set.changes.flatMap((change) =>
    change.type === 'trade' ? [{ type: 'tradeRemoved', trade: change.trade } as const] : [],
  )
  assert.ok(removals.length > 0)
  const store = openHistoryStore(options, common)
  try {
    await store.write(rowsOfSets([set, { ...set, seq: 10, changes: removals }]))
    await store.write(rowsOfSets([set]))
    assert.equal((await readWorld(stack.clickhouseUrl, 'removed', 'eth')).trades.size, 0)
  } finally {
    await store.close()
  }
})

test('the marker is the newest committed head of its chain, exactly', async () => {
  const options = optionsOf('marked')
  await migrate(options, common)
  const store = openHistoryStore(options, common)
  const head = (chain: string, seq: number): ChainHead => ({
    chain,
    seq,
    number: Number.MAX_SAFE_INTEGER - 1,
    hash: '0xabc',
    time: 1_761_950_000 + seq,
    finalNumber: 3,
    position: { epoch: 'e', sequence: Number.MAX_SAFE_INTEGER, link: 2 ** 32 - 1 },
  })
  try {
    assert.equal(await store.marker('eth'), undefined)
    await store.commit(head('eth', 5))
    await store.commit(head('eth', 9))
    await store.commit(head('eth', 7))
    await store.commit(head('bsc', 1))
    assert.deepEqual(await store.marker('eth'), head('eth', 9))
    assert.deepEqual(await store.marker('bsc'), head('bsc', 1))
  } finally {
    await store.close()
  }
})

test('a server that is away, or has lost its tables, is store_unavailable; one with other tables is not', async () => {
  const { sets } = storySets({ chain: 'eth', seed: 1, messages: 1 })
  const lost = openHistoryStore({ ...optionsOf('default'), url: 'http://127.0.0.1:1' }, common)
  const empty = openHistoryStore(optionsOf('no_such_database'), common)
  await client.command({ query: 'CREATE DATABASE other' })
  await client.command({ query: 'CREATE TABLE other.markers (x UInt8) ENGINE = Memory' })
  const other = openHistoryStore(optionsOf('other'), common)
  const isUnavailable = (error: unknown): boolean =>
    error instanceof ChaintapeError && error.code === 'store_unavailable' && error.cause instanceof Error
  try {
    await assert.rejects(lost.write(rowsOfSets(sets)), isUnavailable)
    await assert.rejects(lost.marker('eth'), isUnavailable)
    await assert.rejects(migrate({ ...optionsOf('x'), url: 'http://127.0.0.1:1' }, common), isUnavailable)
    await assert.rejects(empty.write(rowsOfSets(sets)), isUnavailable)
    await assert.rejects(other.marker('eth'), ClickHouseError)
  } finally {
    await Promise.all([lost, empty, other].map((store) => store.close()))
  }
})
