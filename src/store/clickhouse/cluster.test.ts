import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { forCluster } from './cluster.ts'
import { replacementEngine } from './granularity.ts'
import { retentionStatements } from './retention.ts'

const folder = new URL('./migrations/', import.meta.url)
const files = readdirSync(folder)
const place = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"

test('without a cluster every statement stays unchanged', () => {
  for (const name of files) {
    const sql = readFileSync(new URL(name, folder), 'utf8')
    assert.equal(forCluster(sql, undefined), sql)
  }
})

test('in a cluster every migration runs on all nodes and creates replicated tables', () => {
  assert.ok(files.length > 0)
  for (const name of files) {
    const sql = readFileSync(new URL(name, folder), 'utf8')
    const table = /_(\w+)\.sql$/.exec(name)?.[1]
    const made = forCluster(sql, 'tape')
    if (/^ALTER TABLE/m.test(sql)) {
      assert.match(made, /^ALTER TABLE \w+ ON CLUSTER `tape`$/m, name)
      assert.equal(made.replace(' ON CLUSTER `tape`', ''), sql)
      continue
    }
    assert.match(made, new RegExp(`^CREATE TABLE IF NOT EXISTS ${table} ON CLUSTER \`tape\`$`, 'm'), name)
    const [, own = ''] = /\nENGINE = ReplacingMergeTree(?:\((.+)\))?\n/.exec(sql) ?? assert.fail(name)
    const engine = `ReplicatedReplacingMergeTree(${own === '' ? place : `${place}, ${own}`})`
    assert.ok(made.includes(`\nENGINE = ${engine}\n`), name)
    // Nothing else changes.
    const back = made
      .replace(' ON CLUSTER `tape`', '')
      .replace(engine, own === '' ? 'ReplacingMergeTree' : `ReplacingMergeTree(${own})`)
    assert.equal(back, sql)
  }
})

test('the database, a table without parameters and an ALTER are rewritten as well', () => {
  assert.equal(
    forCluster('CREATE DATABASE IF NOT EXISTS `tape_db`', 'c1'),
    'CREATE DATABASE IF NOT EXISTS `tape_db` ON CLUSTER `c1`',
  )
  assert.equal(
    forCluster(
      '\n  CREATE TABLE IF NOT EXISTS migrations\n  (name String)\n  ENGINE = ReplacingMergeTree ORDER BY name',
      'c1',
    ),
    `\n  CREATE TABLE IF NOT EXISTS migrations ON CLUSTER \`c1\`\n  (name String)\n  ENGINE = ReplicatedReplacingMergeTree(${place}) ORDER BY name`,
  )
  const [statement] = retentionStatements({ trades: 30 }, new Map())
  assert.equal(
    forCluster(statement?.sql ?? '', 'c1'),
    'ALTER TABLE trades ON CLUSTER `c1` MODIFY TTL time + toIntervalDay(30)',
  )
})

test('retention statements are issued only for a changed retention', () => {
  const plain = 'ReplacingMergeTree(seq, is_deleted) PARTITION BY chain ORDER BY (chain, pair) SETTINGS a = 1'
  const limited = plain.replace(' SETTINGS', ' TTL time + toIntervalDay(30) SETTINGS')
  const statements = (days: number | undefined, engine: string): string[] =>
    retentionStatements({ trades: days }, new Map([['trades', engine]])).map(({ sql }) => sql)
  assert.deepEqual(statements(undefined, plain), [])
  assert.deepEqual(statements(30, limited), [])
  assert.deepEqual(statements(30, limited.replace(' SETTINGS a = 1', '')), [])
  assert.deepEqual(statements(30, plain), ['ALTER TABLE trades MODIFY TTL time + toIntervalDay(30)'])
  assert.deepEqual(statements(3, limited), ['ALTER TABLE trades MODIFY TTL time + toIntervalDay(3)'])
  assert.deepEqual(statements(undefined, limited), ['ALTER TABLE trades REMOVE TTL'])
})

test('a replacement has smaller granules and, if replicated, its own path', () => {
  const rest = 'PARTITION BY chain ORDER BY (chain, pair) TTL time + toIntervalDay(30) SETTINGS a = 1'
  assert.equal(
    replacementEngine(
      `ReplacingMergeTree(seq, is_deleted) ${rest}, index_granularity = 8192`,
      'trades',
      'trades_g512',
    ),
    `ReplacingMergeTree(seq, is_deleted) ${rest}, index_granularity = 512`,
  )
  const replicated = (path: string, granularity: number): string =>
    `ReplicatedReplacingMergeTree('${path}', '{replica}', seq, is_deleted) ${rest}, index_granularity = ${granularity}`
  const root = '/clickhouse/tables/{shard}/tape'
  assert.equal(
    replacementEngine(replicated(`${root}/trades`, 8_192), 'trades', 'trades_g512'),
    replicated(`${root}/trades_g512`, 512),
  )
})
