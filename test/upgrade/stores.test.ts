import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openBlockArchive } from '../../src/store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { openHotStore } from '../../src/store/redis/hot-store.ts'
import { decodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { Corpus, firstDifference, plainOf } from '../support/releases/corpus.ts'
import { RECORDED_PREFIX, type RecordedRedis } from '../support/releases/record-stores.ts'
import {
  contentOf,
  createTable,
  insertRows,
  postClickhouse,
  type RecordedTable,
} from '../support/releases/recorded-clickhouse.ts'
import { readDocuments, writeKeys } from '../support/releases/recorded-redis.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

/** Every migration adds rows here. */
const OF_MIGRATIONS = ['migrations', 'migration_locks']

let stack: Stack
before(async () => {
  stack = await startStack({ services: ['redis', 'clickhouse'] })
})
after(() => stack?.stop())

for (const version of Corpus.versions()) {
  const corpus = new Corpus(version)
  const database = `release_${version.replaceAll('.', '_')}`
  const tables = (): RecordedTable[] => corpus.read<{ tables: RecordedTable[] }>('clickhouse').tables
  const optionsOf = () => ({ url: stack.clickhouseUrl, database, username: 'default', password: '' })
  const content = ({ name, columns }: RecordedTable) =>
    contentOf(stack.clickhouseUrl, `${database}.${name} FINAL`, columns)

  describe(`stores of release ${version}`, () => {
    test('documents in Redis decode to the recorded values', async () => {
      const redis = new Redis(stack.redisUrl)
      await redis.flushall()
      const { keys, chains } = corpus.read<RecordedRedis>('redis')
      const recorded = corpus.readPlain('redis') as { chains: { documents: unknown }[] }
      await writeKeys(redis, keys)
      redis.disconnect()
      const hot = await openHotStore({ url: stack.redisUrl, prefix: RECORDED_PREFIX }, createTestCommon())
      try {
        for (const [at, { ids }] of chains.entries()) {
          const documents = plainOf(await readDocuments(hot, ids))
          assert.equal(firstDifference(recorded.chains[at]?.documents, documents), undefined, ids.chain)
        }
      } finally {
        await hot.close()
      }
    })

    test('its tables migrate with their rows intact', async () => {
      const { clickhouseUrl: url } = stack
      await postClickhouse(url, `CREATE DATABASE ${database}`)
      for (const table of tables()) {
        await createTable(url, database, table)
        assert.equal(await contentOf(url, `${database}.${table.name}`, table.columns), table.content)
      }
      const before = await Promise.all(tables().map(content))
      const common = createTestCommon()
      await migrate(optionsOf(), common)
      for (const [at, table] of tables().entries())
        if (!OF_MIGRATIONS.includes(table.name)) assert.equal(await content(table), before[at], table.name)
      const history = openHistoryStore(optionsOf(), common)
      assert.notEqual(await history.marker('eth'), undefined)
      assert.notEqual(await history.marker('solana'), undefined)
      await history.close()
      const archive = openBlockArchive(optionsOf())
      let messages = 0
      for await (const { body } of archive.read('eth', 'e', 0)) {
        decodeEnvelope(body)
        messages++
      }
      assert.ok(messages > 0)
      await archive.close()
    })

    test('its inserts still work after all migrations', async () => {
      for (const table of tables()) {
        const before = await content(table)
        await postClickhouse(stack.clickhouseUrl, `TRUNCATE TABLE ${database}.${table.name}`)
        await insertRows(stack.clickhouseUrl, database, table)
        if (!OF_MIGRATIONS.includes(table.name)) assert.equal(await content(table), before, table.name)
      }
    })
  })
}
