import assert from 'node:assert/strict'
import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { Config } from '../../src/config/schema.ts'
import { checkClickhouse } from '../../src/roles/doctor/servers.ts'
import { watchHistory } from '../../src/roles/writer/watch-history.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { openHistoryReader } from '../../src/store/clickhouse/read/history-reader.ts'
import { storySets } from '../support/builders/story.ts'
import { rowsOfSets } from '../support/reference/rows-of-sets.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

/** What a merge leaves that runs into a full disk: files of marks that are empty. */

let stack: Stack
const common = createTestCommon()

before(async () => {
  stack = await startStack({ services: ['clickhouse'] })
})

after(() => stack?.stop())

test('a damaged part is counted by the writer and reported by doctor, before and after a restart', async () => {
  const options = { url: stack.clickhouseUrl, database: 'damaged', username: 'default', password: '' }
  const config = { clickhouse: options } as Config
  await migrate(options, common)
  const store = openHistoryStore(options, common)
  await store.write(rowsOfSets(storySets({ chain: 'eth', seed: 1, messages: 20 }).sets))
  await store.close()
  const client = createClient({
    url: options.url,
    database: options.database,
    log: { level: ClickHouseLogLevel.OFF },
  })
  const ask = async (query: string): Promise<{ readonly path?: string }[]> =>
    (await client.query({ query, format: 'JSONEachRow' })).json()
  const counts: number[] = []
  const reader = openHistoryReader(options)
  const stop = new AbortController()
  const hooks = { report: () => undefined, onCorruptions: (count: number) => void counts.push(count) }
  const watching = watchHistory(reader, ['eth'], hooks, stop.signal)
  const sees = (what: string, isSo: (count: number | undefined) => boolean) =>
    waitFor(`the writer to see ${what}`, async () => (isSo(counts.at(-1)) ? true : undefined))
  const reported = async () =>
    (await checkClickhouse(config))
      .filter(({ advice }) => advice?.includes('Full disks'))
      .map(({ text }) => text)
  try {
    await sees('nothing', (count) => count === 0)
    assert.deepEqual(await reported(), [])

    const [part] = await ask(
      `SELECT path FROM system.parts WHERE database = 'damaged' AND table = 'trades' AND active LIMIT 1`,
    )
    const path = part?.path ?? ''
    for (const file of readdirSync(path)) if (file.includes('mrk')) truncateSync(join(path, file), 0)
    await client.command({ query: 'SYSTEM DROP MARK CACHE' })
    await assert.rejects(ask('SELECT * FROM trades'), { type: 'CORRUPTED_DATA' })
    await sees('it', (count) => (count ?? 0) > 0)
    assert.deepEqual(await reported(), ['it has found corrupted data since it was started'])

    await stack.restart('clickhouse')
    await sees('nothing any more', (count) => count === 0)
    // Not an error any more: the rows are just not there.
    await ask('SELECT * FROM trades')
    assert.deepEqual(await reported(), ['damaged parts were left out at a start: trades'])
  } finally {
    stop.abort()
    await watching
    await Promise.all([reader.close(), client.close()])
  }
})
