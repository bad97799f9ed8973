import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { Corpus } from '../support/releases/corpus.ts'
import { createTable, postClickhouse, type RecordedTable } from '../support/releases/recorded-clickhouse.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const FOLDER = new URL('../../src/store/clickhouse/migrations/', import.meta.url)
const files = readdirSync(FOLDER).sort()
const sqlOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8')
const [oldest = ''] = Corpus.versions()

let stack: Stack
before(async () => {
  stack = await startStack({ services: ['clickhouse'] })
})
after(() => stack?.stop())

const optionsOf = (database: string) => ({
  ...{ url: stack.clickhouseUrl, database, username: 'default', password: '' },
})

async function appliedIn(database: string, version: string): Promise<Map<string, string>> {
  await postClickhouse(stack.clickhouseUrl, `CREATE DATABASE ${database}`)
  const { tables } = new Corpus(version).read<{ tables: RecordedTable[] }>('clickhouse')
  const migrations = tables.find(({ name }) => name === 'migrations') as RecordedTable
  await createTable(stack.clickhouseUrl, database, migrations)
  const query = `SELECT name, checksum FROM ${database}.migrations FINAL FORMAT TSVRaw`
  const text = (await postClickhouse(stack.clickhouseUrl, query)).toString().trim()
  return new Map(text.split('\n').map((line) => line.split('\t') as [string, string]))
}

test('the migrations of every release are unchanged, and later ones only add', async () => {
  for (const [at, version] of Corpus.versions().entries()) {
    const applied = await appliedIn(`applied_${at}`, version)
    for (const [name, checksum] of applied)
      assert.equal(createHash('sha256').update(sqlOf(name)).digest('hex'), checksum, name)
  }
  const known = await appliedIn('applied', oldest)
  for (const name of files.filter((each) => !known.has(each))) {
    const sql = sqlOf(name).replaceAll(/--.*$/gm, '').trim()
    assert.match(sql, /^(CREATE TABLE IF NOT EXISTS|ALTER TABLE \w+\s+(ADD|MODIFY COMMENT))/, name)
    assert.doesNotMatch(sql, /\b(DROP|RENAME|DELETE|UPDATE|CLEAR|MODIFY (COLUMN|ORDER|TTL))\b/i, name)
  }
})

test('of several processes that migrate at once, exactly one runs each migration', async () => {
  const commons = [1, 2, 3].map(() => createTestCommon())
  await Promise.all(commons.map((common) => migrate(optionsOf('raced'), common)))
  const migrated = commons.flatMap(({ lines }) =>
    lines.flatMap((line) => (line.msg === 'Schema migrated' ? [line['migration']] : [])),
  )
  assert.deepEqual(migrated.sort(), files)
})

test('a process that died while it migrated holds up the next one only until its lock expires', async () => {
  const { clickhouseUrl: url } = stack
  await migrate(optionsOf('expired'), createTestCommon())
  await postClickhouse(url, 'TRUNCATE TABLE expired.migrations')
  await postClickhouse(
    url,
    `INSERT INTO expired.migration_locks (holder, version, until)
      SELECT 'dead', 1, now64(3, 'UTC') + INTERVAL 3 SECOND`,
  )
  const common = createTestCommon()
  const startedAt = performance.now()
  await migrate(optionsOf('expired'), common)
  assert.ok(performance.now() - startedAt > 1_500)
  assert.ok(common.lines.some(({ msg }) => msg === 'Waiting for another process that migrates the schema'))
  assert.equal(common.lines.filter(({ msg }) => msg === 'Schema migrated').length, files.length)
})

test('a schema of a later version is left alone', async () => {
  const { clickhouseUrl: url } = stack
  await migrate(optionsOf('later'), createTestCommon())
  await postClickhouse(url, `INSERT INTO later.migrations (name, checksum) VALUES ('9999_later.sql', 'x')`)
  const common = createTestCommon()
  await migrate(optionsOf('later'), common)
  assert.ok(!common.lines.some(({ msg }) => msg === 'Schema migrated'))
})
