import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { ExpectedMarket } from '../e2e/expected-market.ts'
import { storedDocuments, storedRows } from '../support/reference/store-dump.ts'
import { Pipeline, type RoleName } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Drill, runCommand, usageOf } from './drill.ts'

/** docs/operations.md, "Lost servers": each server loses its disk while the roles run. */

const NAME = 'lost'
const LOGS = ['BLOCKS', 'CHANGES'] as const
const folder = mkdtempSync(join(tmpdir(), 'chaintape-lost-'))
let stack: Stack
let drill: Drill
let pipeline: Pipeline

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  drill = await Drill.deploy(stack.rpcUrl)
  pipeline = new Pipeline(stack, NAME, { finality_depth: 5 }, { snapshots: { every_seconds: 1 } })
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
  await drill.trade(40)
  await drill.caughtUp(pipeline)
})

after(async () => {
  await pipeline?.stop('SIGKILL')
  await stack?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The service works on: new blocks arrive, and every swap is stored once. */
async function worksOn(): Promise<void> {
  await drill.trade(5)
  await drill.caughtUp(pipeline)
  const { number } = await drill.scenario.market.head()
  const expected = await ExpectedMarket.read(drill.scenario, number)
  const ids = expected.pools.trades.map(({ block, log }) => `${block}-${log}`).sort()
  const stored = async (): Promise<string[]> => {
    const { trades } = await storedRows(stack, NAME)
    return (trades as { block: string; log: number }[]).map(({ block, log }) => `${block}-${log}`).sort()
  }
  await waitFor('the last trade to be stored', async () =>
    (await stored()).length >= ids.length ? true : undefined,
  )
  assert.deepEqual(await stored(), ids)
}

async function loseDisk(server: 'nats' | 'clickhouse', data: string): Promise<void> {
  await stack.kill(server)
  rmSync(join(stack.dataDir, data), { recursive: true, force: true })
  await stack.restart(server)
}

async function readiness(role: RoleName): Promise<{ status: number; text: string }> {
  const { admin_port } = await pipeline.role(role).logged('Admin server listening')
  const response = await fetch(`http://127.0.0.1:${admin_port}/readyz`)
  return { status: response.status, text: await response.text() }
}

async function restartEmpty(role: 'engine' | 'reader', ...folders: readonly string[]): Promise<void> {
  await pipeline.role(role).kill('SIGKILL')
  for (const each of folders) rmSync(join(pipeline.dir, 'data', each), { recursive: true, force: true })
  await pipeline.start(role)
}

test('Redis wiped: the writer fills it again, and usage is as it was', async () => {
  const [usage, documents] = [await usageOf(pipeline), await storedDocuments(stack, NAME)]
  await stack.kill('redis')
  for (const path of drill.paths) assert.equal((await pipeline.get(path)).status, 200)
  await stack.restart('redis')
  await waitFor('all documents to be back', async () =>
    Object.keys(await storedDocuments(stack, NAME)).length >= Object.keys(documents).length
      ? true
      : undefined,
  )
  await worksOn()
  assert.ok((await usageOf(pipeline)).requests >= usage.requests)
})

test('LMDB of the engine and of the reader wiped: each starts from its snapshot', async () => {
  for (const role of ['engine', 'reader'] as const) {
    await restartEmpty(role, role)
    await pipeline.role(role).logged('Unpacking snapshot')
  }
  await worksOn()
})

test('ClickHouse wiped: one command restores the backup, and the writer continues it', async () => {
  const dir = join(folder, 'clickhouse')
  await runCommand(pipeline, 'backup', dir)
  await drill.trade(10)
  await drill.caughtUp(pipeline)
  await loseDisk('clickhouse', 'clickhouse')
  await drill.trade(2)
  for (const path of drill.paths) assert.equal((await pipeline.get(path)).status, 200)
  const txs = await pipeline.get(`/v2/txs/${drill.scenario.tokenPair}-local?limit=20`)
  assert.deepEqual([txs.status, (txs.body as { code?: string }).code], [500, 'store_unavailable'])
  await waitFor('the writer to report it', async () => {
    const { status, text } = await readiness('writer')
    return status === 503 && text.includes('ClickHouse has lost its tables') ? true : undefined
  })
  await runCommand(pipeline, 'restore', dir, '--only', 'clickhouse')
  await worksOn()
  // The archive has no gap either: an engine without a snapshot folds all of it.
  await waitFor('the writer to be ready', async () =>
    (await readiness('writer')).status === 200 ? true : undefined,
  )
  await trimLogs(20)
  await restartEmpty('engine', 'engine', 'snapshots/engine')
  await pipeline.role('engine').logged('Reading BLOCKS from the archive')
  await worksOn()
})

test('NATS wiped: reader and engine restore their logs, one command restores the keys', async () => {
  const dir = join(folder, 'nats')
  await runCommand(pipeline, 'keys', 'create', '--name', 'second')
  const [keys, usage] = [await runCommand(pipeline, 'keys', 'list'), await usageOf(pipeline)]
  await runCommand(pipeline, 'backup', dir)
  await stack.kill('nats')
  for (const path of drill.paths) assert.equal((await pipeline.get(path)).status, 200)
  await loseDisk('nats', 'nats/store')
  await runCommand(pipeline, 'restore', dir, '--only', 'keys')
  assert.equal(await runCommand(pipeline, 'keys', 'list'), keys)
  assert.ok((await usageOf(pipeline)).requests >= usage.requests)
  await worksOn()
  await pipeline.role('gateway').kill('SIGKILL')
  pipeline.spawn('gateway')
  await pipeline.role('gateway').ready()
  await worksOn()
})

test('NATS wiped while no role ran: the order in which they start does not matter', async () => {
  const dir = join(folder, 'stopped')
  await runCommand(pipeline, 'backup', dir)
  const roles = ['gateway', 'writer', 'engine', 'reader'] as const
  await Promise.all(roles.map((role) => pipeline.role(role).kill('SIGKILL')))
  await loseDisk('nats', 'nats/store')
  await runCommand(pipeline, 'restore', dir, '--only', 'keys')
  for (const role of roles) {
    pipeline.spawn(role)
    await pipeline.role(role).logged('Admin server listening')
  }
  await worksOn()
})

/** Drops the oldest messages of both logs. All of them are stored elsewhere by then. */
async function trimLogs(upTo: number): Promise<void> {
  const connection = await connect({ servers: stack.natsUrls })
  try {
    const { streams } = await jetstreamManager(connection)
    for (const log of LOGS) await streams.purge(`${NAME}_${log}_local`, { seq: upTo })
  } finally {
    await connection.close()
  }
}
