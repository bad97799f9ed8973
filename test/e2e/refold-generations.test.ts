import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@clickhouse/client'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { parse, stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/schema.ts'
import { storedName } from '../../src/domain/generation.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import type { Generations } from '../../src/log/generations.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { readAll } from '../support/rigs/log-reading.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { FreshFold } from './fresh-fold.ts'
import { Scenario } from './scenario.ts'

/** Roles build a generation beside the served one, are killed meanwhile, and remove the former one. Gateways are not part of it. */

const NAME = 'generations'
const CHAIN = 'local'
const KILLS = 10

const common = createTestCommon()
let stack: Stack
let scenario: Scenario
let pipeline: Pipeline
let config: Config
let logs: Logs
let generations: Generations
let fresh: FreshFold

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  pipeline = new Pipeline(
    stack,
    NAME,
    { finality_depth: 5 },
    { logs: { blocks: { max_age_seconds: 1 } }, snapshots: { every_seconds: 0 } },
  )
  config = loadConfig(pipeline.configFile, {})
  logs = await connectLogs(config.nats, common)
  generations = await logs.generations()
  fresh = new FreshFold(stack, config, logs, CHAIN)
  // Markers are read here before the writer may have got around to it.
  await migrate(config.clickhouse, common)
  await pipeline.start('reader', 'engine', 'writer')
})

after(async () => {
  await pipeline?.stop()
  await logs?.close()
  await stack?.stop()
})

/** All that was mined is in the served generation. */
async function trade(blocks: number): Promise<number> {
  for (let block = 0; block < blocks; block++) await scenario.tradeBlock()
  const { number } = await scenario.market.head()
  const history = openHistoryStore(config.clickhouse, common)
  try {
    const served = (): string => storedName(CHAIN, generations.of(CHAIN).serving)
    return await waitFor(`block ${number} to be written`, async () => {
      const marker = await history.marker(served())
      return marker !== undefined && marker.number >= number ? marker.seq : undefined
    })
  } finally {
    await history.close()
  }
}

async function changeSettings(change: object): Promise<void> {
  const before = parse(readFileSync(pipeline.configFile, 'utf8')) as { chains: { local: object } }
  await pipeline.role('reader').kill('SIGTERM')
  const chains = { local: { ...before.chains.local, ...change } }
  writeFileSync(pipeline.configFile, stringify({ ...before, chains }))
  await pipeline.start('reader')
}

test('a refold is built while roles are killed, and switches; the former generation is removed', async () => {
  await trade(40)
  await changeSettings({ min_depth_usd: 1_000_000_000 })
  await trade(10)
  await waitFor('BLOCKS to be trimmed', async () => {
    await trade(1)
    return (await (await logs.open('BLOCKS', CHAIN)).messageAt(1)) === undefined ? true : undefined
  })
  // The command is killed as soon as the roles know.
  const killed = pipeline.spawnCommand('refold', CHAIN, '--grace', '3')
  const building = await waitFor('the entry', () => generations.of(CHAIN).building)
  killed.kill('SIGKILL')
  assert.deepEqual(building.number, 2)
  assert.ok((building.settingsAt ?? 0) > 40)
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(Math.random() * 400)
    await pipeline.role(kill % 2 === 0 ? 'engine' : 'writer').kill('SIGKILL')
    pipeline.spawn(kill % 2 === 0 ? 'engine' : 'writer')
    // The served generation goes on.
    await trade(2)
  }
  assert.equal(generations.of(CHAIN).serving.number, 1)
  const retired = new Set<number | undefined>()
  generations.onChange(() => retired.add(generations.of(CHAIN).retiring?.number))
  const { code, output } = await pipeline.run('refold', CHAIN, '--grace', '3')
  assert.equal(code, 0, output)
  assert.match(output, /generation 2 is served/)
  await waitFor('the switch', () => (generations.of(CHAIN).serving.number === 2 ? true : undefined))
  assert.ok(retired.has(1))

  const until = await trade(3)
  const { serving } = generations.of(CHAIN)
  await fresh.written(serving, until)
  const sets = await fresh.fold(serving, until, 'fresh')
  const changes = await logs.openChanges(CHAIN, serving)
  // The blocks become final meanwhile, which is a message, too.
  const published = (await readAll(changes)).slice(0, sets.length)
  assert.deepEqual(
    published.map(({ body }) => Buffer.from(body).toString('base64')),
    sets.map((set) => Buffer.from(set).toString('base64')),
  )
  const rows = await fresh.rowsIn(`${CHAIN}@2`)
  assert.ok((rows['trades']?.length ?? 0) > 50)
  assert.deepEqual(rows, await fresh.rowsIn('fresh'))

  await waitFor('the removal', () => (generations.of(CHAIN).retiring === undefined ? true : undefined))
  for (const [table, left] of Object.entries(await fresh.rowsIn(CHAIN))) assert.deepEqual(left, [], table)
  assert.deepEqual(await fresh.rowsIn(`${CHAIN}@2`), rows)
  const redis = new Redis(stack.redisUrl)
  assert.deepEqual(await redis.keys(`${NAME}:*:${CHAIN}`), [])
  assert.deepEqual(await redis.keys(`${NAME}:*:${CHAIN}:*`), [])
  assert.ok((await redis.keys(`${NAME}:*:${CHAIN}@2:*`)).length > 10)
  redis.disconnect()
  assert.equal(await logs.openCopy('CHANGES', CHAIN).summary(), undefined)
  await waitFor('the state to be deleted', () =>
    existsSync(join(pipeline.dir, 'data/engine', CHAIN)) ? undefined : true,
  )
  await trade(3)
  for (const role of ['engine', 'writer'] as const) await pipeline.role(role).ready()
})

test('a refold from a date leaves out earlier events, and can be canceled', async () => {
  const client = createClient({ url: stack.clickhouseUrl, database: NAME })
  const query = `SELECT toUnixTimestamp(quantileExact(0.5)(time)) AS middle FROM trades WHERE chain = '${CHAIN}@2'`
  const [found] = await (await client.query({ query, format: 'JSONEachRow' })).json<{ middle: number }>()
  await client.close()
  const middle = Math.floor((found?.middle ?? 0) / 60) * 60
  const date = new Date(middle * 1_000).toISOString().replace('.000', '')
  const first = pipeline.spawnCommand('refold', CHAIN, '--from', date)
  await waitFor('the entry', () => generations.of(CHAIN).building)
  first.kill('SIGKILL')
  // Without a writer, what was built so far stays.
  await pipeline.role('writer').kill('SIGTERM')
  const canceled = await pipeline.run('refold', CHAIN, '--cancel')
  assert.equal(canceled.code, 0, canceled.output)
  const early = await pipeline.run('refold', CHAIN)
  assert.match(early.output, /try again then/)
  await pipeline.start('writer')
  await waitFor('the removal', () => (generations.of(CHAIN).retiring === undefined ? true : undefined))
  assert.deepEqual((await fresh.rowsIn(`${CHAIN}@3`))['trades'], [])

  const { code, output } = await pipeline.run('refold', CHAIN, '--from', date, '--grace', '600')
  assert.equal(code, 0, output)
  await waitFor('the switch', () => (generations.of(CHAIN).serving.number === 5 ? true : undefined))
  const until = await trade(2)
  const { serving } = generations.of(CHAIN)
  await fresh.fold(serving, until, 'fresh5')
  await fresh.written(serving, until)
  const rows = await fresh.rowsIn(`${CHAIN}@5`)
  assert.deepEqual(rows, await fresh.rowsIn('fresh5'))
  const trades = rows['trades'] as { time: string }[]
  assert.ok(trades.length > 10)
  assert.ok(trades.every(({ time }) => Date.parse(`${time.replace(' ', 'T')}Z`) >= middle * 1_000))
})

test('an entry that NATS has lost is restored from ClickHouse', async () => {
  const before = generations.of(CHAIN)
  await Promise.all((['engine', 'writer'] as const).map((role) => pipeline.role(role).kill('SIGKILL')))
  const nats = await connect({ servers: stack.natsUrls })
  await (await jetstreamManager(nats)).streams.delete(`${NAME}_GENERATIONS`)
  await nats.close()
  for (const role of ['engine', 'writer'] as const) pipeline.spawn(role)
  await waitFor('the entry', async () => {
    const found = await generations.stored(CHAIN).catch(() => undefined)
    return found?.serving.number === before.serving.number ? true : undefined
  })
  assert.deepEqual(generations.of(CHAIN), before)
  await trade(2)
  for (const role of ['engine', 'writer'] as const) await pipeline.role(role).ready()
  assert.deepEqual((await fresh.rowsIn(CHAIN))['trades'], [])
})
