import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { Config } from '../../src/config/schema.ts'
import { checkClickhouse } from '../../src/roles/doctor/servers.ts'
import { planClickhouse } from '../../src/sandbox/servers/clickhouse.ts'
import {
  freePorts,
  type RunningProcess,
  signalProcess,
  startProcess,
  waitUntilReady,
} from '../../src/sandbox/servers/process.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { storySets } from '../support/builders/story.ts'
import { rowsOfSets } from '../support/reference/rows-of-sets.ts'
import { SmallDisk } from '../support/rigs/small-disk.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

/** deploy/clickhouse/full-disk.xml, on a disk that another program fills. */

const MEGABYTE = 1024 ** 2
const DISK_MEGABYTES = 128
const KEPT_MEGABYTES = 64
const LEFT_MEGABYTES = 32

const common = createTestCommon()
const dataDir = mkdtempSync(join(tmpdir(), 'chaintape-kept-'))
const folder = join(dataDir, 'clickhouse')
const deployed = readFileSync(new URL('../../deploy/clickhouse/full-disk.xml', import.meta.url), 'utf8')
const disk = SmallDisk.mount(folder, DISK_MEGABYTES)
let server: RunningProcess | undefined
let options: { url: string; database: string; username: string; password: string }

before(async () => {
  if (disk === undefined) return
  // A disk of this size has less than is kept free of a real one.
  const settings = deployed.replace(/(?<=<keep_free_space_bytes>)\d+/, `${KEPT_MEGABYTES * MEGABYTE}`)
  const config = join(dataDir, 'full-disk.xml')
  writeFileSync(config, settings)
  const [port = 0] = await freePorts(1)
  options = { url: `http://127.0.0.1:${port}`, database: 'kept', username: 'default', password: '' }
  server = startProcess(planClickhouse(dataDir, port, config))
  await waitUntilReady(server)
})

after(async () => {
  if (server !== undefined) await signalProcess(server, 'SIGKILL')
  disk?.unmount()
  rmSync(dataDir, { recursive: true, force: true })
})

const skip = disk === undefined ? 'needs the permission to mount a file system' : false

test('neither inserts nor merges begin with less room than is kept free', { skip }, async () => {
  const store = openHistoryStore(options, common)
  const client = createClient({ url: options.url, log: { level: ClickHouseLogLevel.OFF } })
  const ask = async (query: string): Promise<object[]> =>
    (await client.query({ query, format: 'JSONEachRow' })).json()
  const merge = () =>
    client.command({ query: 'OPTIMIZE TABLE kept.trades FINAL SETTINGS optimize_throw_if_noop = 1' })
  try {
    const value = /<old_parts_lifetime>(\d+)</.exec(deployed)?.[1]
    const lifetime = "SELECT value FROM system.merge_tree_settings WHERE name = 'old_parts_lifetime'"
    assert.deepEqual(await ask(lifetime), [{ value }])
    const findings = await checkClickhouse({ clickhouse: options } as Config)
    assert.deepEqual(
      findings.filter(({ text }) => text.includes('last byte')),
      [],
    )

    await migrate(options, common)
    const { sets } = storySets({ chain: 'eth', seed: 1, messages: 30 })
    await store.write(rowsOfSets(sets.slice(0, 10)))
    await store.write(rowsOfSets(sets.slice(10, 20)))
    const count = await ask('SELECT count() AS rows FROM kept.trades')

    const { bsize, bfree } = statfsSync(folder)
    const other = join(folder, 'other')
    writeFileSync(other, Buffer.alloc(bsize * bfree - LEFT_MEGABYTES * MEGABYTE))
    await assert.rejects(store.write(rowsOfSets(sets.slice(20))), { code: 'store_unavailable' })
    await assert.rejects(merge(), /Not enough free space to merge/)
    assert.deepEqual(await ask('SELECT count() AS rows FROM kept.trades'), count)

    rmSync(other)
    await store.write(rowsOfSets(sets.slice(20)))
    await merge()
    assert.notDeepEqual(await ask('SELECT count() AS rows FROM kept.trades FINAL'), count)
  } finally {
    await Promise.all([store.close(), client.close()])
  }
})
