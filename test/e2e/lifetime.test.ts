import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JetStreamManager, jetstreamManager, type StreamState } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { storedRows } from '../support/reference/store-dump.ts'
import { Pipeline, type RoleName } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { ExpectedMarket } from './expected-market.ts'
import { Scenario } from './scenario.ts'

const NAME = 'lifetime'
const LOGS = ['BLOCKS', 'CHANGES'] as const
const AGE_SECONDS = 1
const PERIODS = 20

let stack: Stack
let nats: NatsConnection
let manager: JetStreamManager
let scenario: Scenario
let pipeline: Pipeline

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  nats = await connect({ servers: stack.natsUrls })
  manager = await jetstreamManager(nats)
  scenario = await Scenario.deploy(stack.rpcUrl)
  const limits = { max_age_seconds: AGE_SECONDS }
  pipeline = new Pipeline(
    stack,
    NAME,
    { finality_depth: 5 },
    { logs: { blocks: limits, changes: limits }, snapshots: { every_seconds: 2 } },
  )
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
})

after(async () => {
  await pipeline?.stop()
  await nats?.close()
  await stack?.stop()
})

async function stateOf(log: (typeof LOGS)[number]): Promise<StreamState> {
  return (await manager.streams.info(`${NAME}_${log}_local`)).state
}

async function caughtUp(): Promise<void> {
  await pipeline.reaches(`/v2/pairs/${scenario.tokenPair}-local`, await scenario.market.head())
}

async function restartWithout(role: RoleName, ...folders: readonly string[]): Promise<void> {
  await pipeline.role(role).kill('SIGKILL')
  for (const folder of folders) rmSync(join(pipeline.dir, 'data', folder), { recursive: true, force: true })
  await pipeline.start(role)
}

/** The position of the newest snapshot; 0 if there is none. */
function newestSnapshot(role: RoleName): number {
  const folder = join(pipeline.dir, 'data', 'snapshots', role, 'local')
  if (!existsSync(folder)) return 0
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return Number.parseInt(names.sort().at(-1) ?? '0', 10)
}

async function answers(): Promise<unknown> {
  const ids = [scenario.stablePair, scenario.tokenPair]
  return Promise.all(ids.map(async (id) => (await pipeline.get(`/v2/pairs/${id}-local`)).body))
}

test('both logs stay within their limits over twenty periods', async (t) => {
  const end = performance.now() + PERIODS * AGE_SECONDS * 1_000
  const largest = { BLOCKS: 0, CHANGES: 0 }
  while (performance.now() < end) {
    await scenario.tradeBlock()
    for (const log of LOGS) largest[log] = Math.max(largest[log], (await stateOf(log)).bytes)
    await sleep(20)
  }
  await caughtUp()
  for (const log of LOGS) {
    const { bytes, messages, first_seq, last_seq } = await stateOf(log)
    const all = (bytes / messages) * last_seq
    t.diagnostic(`${log}: ${last_seq} messages, about ${Math.round(all)} bytes, at most ${largest[log]} held`)
    assert.ok(first_seq > last_seq / 2, `${log} begins at ${first_seq} of ${last_seq}`)
    assert.ok(largest[log] < all / 2, `${log} held ${largest[log]} of ${all} bytes`)
  }
})

test('an engine and a reader with empty disks start from the archive', async () => {
  const before = await answers()
  for (const role of ['engine', 'reader'] as const) {
    await restartWithout(role, role, join('snapshots', role))
    await pipeline.role(role).logged('Reading BLOCKS from the archive')
  }
  for (let block = 0; block < 5; block++) await scenario.tradeBlock()
  await caughtUp()
  assert.notDeepEqual(await answers(), before)
})

test('an engine and a reader with empty disks start from a snapshot, and read nothing older', async () => {
  for (const role of ['engine', 'reader'] as const) {
    // The first commit after a start may be of the first message alone.
    const oldest = await waitFor(`a snapshot of the ${role}`, () => {
      const seq = newestSnapshot(role)
      return seq > 1 ? seq : undefined
    })
    await restartWithout(role, role)
    const { seq = 0 } = await pipeline.role(role).logged('Unpacking snapshot')
    assert.ok(seq >= oldest, `${role} started from ${seq}, not from ${oldest}`)
    // BLOCKS may have been trimmed since.
    for (const line of pipeline.role(role).linesOf('Reading BLOCKS from the archive'))
      assert.ok((line.seq ?? 0) >= seq, `${role} read from ${line.seq} on, not from ${seq}`)
  }
  for (let block = 0; block < 5; block++) await scenario.tradeBlock()
  await caughtUp()
})

test('nothing is dropped that the writer has not written', async () => {
  await pipeline.role('writer').kill('SIGKILL')
  const [, changes] = await Promise.all(LOGS.map(stateOf))
  for (let block = 0; block < 20; block++) await scenario.tradeBlock()
  await sleep(2 * AGE_SECONDS * 1_000)
  assert.equal((await stateOf('CHANGES')).first_seq, changes?.first_seq)
  await pipeline.start('writer')
  await caughtUp()
  await waitFor('the backlog to be dropped', async () =>
    (await stateOf('CHANGES')).first_seq > (changes?.last_seq ?? 0) ? true : undefined,
  )
})

test('every swap of the receipts is stored, none twice', async () => {
  const { number } = await scenario.market.head()
  const expected = await ExpectedMarket.read(scenario, number)
  const ids = expected.pools.trades.map(({ block, log }) => `${block}-${log}`).sort()
  await waitFor('the last trade to be stored', async () => {
    const { trades } = await storedRows(stack, NAME)
    return trades?.length === ids.length ? true : undefined
  })
  const { trades } = await storedRows(stack, NAME)
  const stored = (trades as { block: string; log: number }[]).map(({ block, log }) => `${block}-${log}`)
  assert.deepEqual(stored.sort(), ids)
})
