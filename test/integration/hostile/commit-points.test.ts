import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { type Story, storySets } from '../../support/builders/story.ts'
import { createWriterRig, eventually, type WriterRig, type WriterRun } from '../../support/rigs/writer-rig.ts'

/** Each store has a commit point of its own: one that is away, hung or full does not stop the other. */

const MESSAGES = 90

let stack: Stack
let rig: WriterRig
let run: WriterRun
let story: Story
let seed = 40

before(async () => {
  stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
})

after(async () => {
  await stack?.stop()
})

beforeEach(async () => {
  rig = await createWriterRig(stack)
  story = storySets({ chain: 'eth', seed: seed++, messages: MESSAGES })
  run = await rig.start()
  await rig.publish('eth', first())
  await rig.written('eth', first())
})

afterEach(async () => {
  await rig.close()
})

const first = () => story.sets.slice(0, 30)
const meanwhile = () => story.sets.slice(30, 60)
const afterwards = () => story.sets.slice(60)

/** Rows and documents go on from where each store was left, and end as if nothing had happened. */
async function assertMended(): Promise<void> {
  await rig.publish('eth', afterwards())
  await rig.written('eth', afterwards())
  await eventually('readiness', async () => (run.readiness() === undefined ? true : undefined))
  await rig.assertStored('eth', story)
}

async function assertSaid(reason: RegExp): Promise<void> {
  await eventually(`${reason} in /readyz`, async () => reason.exec(run.readiness() ?? '') ?? undefined)
}

async function assertAt(store: string, sets: readonly { readonly seq: number }[]): Promise<void> {
  const line = `chaintape_writer_position_seq{chain="eth",store="${store}"} ${sets.at(-1)?.seq}\n`
  await eventually(line, async () => ((await run.metrics()).includes(line) ? true : undefined))
}

test('while Redis is dead, rows of ClickHouse go on', async () => {
  await stack.kill('redis')
  await rig.publish('eth', meanwhile())
  await rig.written('eth', meanwhile(), ['clickhouse'])
  await assertSaid(/^eth\/redis: Redis (unavailable|timed out)/)
  await assertAt('clickhouse', meanwhile())
  await assertAt('redis', first())
  await stack.restart('redis')
  await assertMended()
})

test('while Redis hangs, ClickHouse is still written, and the lag of Redis is reported', async () => {
  await stack.kill('redis', 'SIGSTOP')
  try {
    await rig.publish('eth', meanwhile())
    await rig.written('eth', meanwhile(), ['clickhouse'])
    await assertSaid(/^eth\/redis: Redis (unavailable|timed out)/)
    await eventually('the lag', async () =>
      run.details?.().find((line) => /^eth: Redis is behind by \d+ s$/.test(line)),
    )
  } finally {
    await stack.kill('redis', 'SIGCONT')
  }
  await assertMended()
})

test('while Redis is full, rows of ClickHouse go on', async () => {
  const redis = new Redis(stack.redisUrl)
  await redis.config('SET', 'maxmemory-policy', 'noeviction')
  await redis.config('SET', 'maxmemory', '1mb')
  try {
    await rig.publish('eth', meanwhile())
    await rig.written('eth', meanwhile(), ['clickhouse'])
    await assertSaid(/^eth\/redis: Redis (unavailable|timed out)/)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
    redis.disconnect()
  }
  await assertMended()
})

test('while ClickHouse is dead, documents of Redis go on', async () => {
  await stack.kill('clickhouse')
  await rig.publish('eth', meanwhile())
  await rig.written('eth', meanwhile(), ['redis'])
  await assertSaid(/^(eth\/)?clickhouse: ClickHouse unavailable/)
  await assertAt('redis', meanwhile())
  await assertAt('clickhouse', first())
  await stack.restart('clickhouse')
  await assertMended()
})

/** Stops a server in the middle of its work; the other store goes on, far beyond what the writer holds in memory for this one. */
async function hangWhile(store: 'redis' | 'clickhouse', sets: Story['sets']): Promise<void> {
  await stack.kill(store, 'SIGSTOP')
  try {
    await rig.publish('eth', sets)
    await rig.written('eth', sets, [store === 'redis' ? 'clickhouse' : 'redis'])
  } finally {
    await stack.kill(store, 'SIGCONT')
  }
  await rig.written('eth', sets)
}

/** How many consumers the newest message was delivered to. */
async function readersAtTheEnd(): Promise<number> {
  const connection = await connect({ servers: stack.natsUrls })
  const manager = await jetstreamManager(connection)
  const stream = `${rig.config.nats.prefix}_CHANGES_eth`
  const { state } = await manager.streams.info(stream)
  const consumers = await manager.consumers.list(stream).next()
  await connection.close()
  return consumers.filter(({ delivered }) => delivered.stream_seq === state.last_seq).length
}

test('a store that hangs reads the log itself once it is back, and ends equal to the other', async () => {
  const { max_batch_rows: room } = rig.config.writer
  const long = storySets({ chain: 'eth', seed: seed - 1, messages: 220 })
  const redisHangs = long.sets.slice(30, 120)
  const clickhouseHangs = long.sets.slice(120, 210)
  const last = long.sets.slice(210)
  for (const sets of [redisHangs, clickhouseHangs]) {
    const changes = sets.reduce((sum, set) => sum + set.changes.length, 0)
    assert.ok(changes > 5 * room, `${changes} changes fit into what is held for a store`)
  }
  await hangWhile('redis', redisHangs)
  await hangWhile('clickhouse', clickhouseHangs)
  await rig.publish('eth', last)
  await rig.written('eth', last)
  assert.equal(await readersAtTheEnd(), 1)
  await rig.assertStored('eth', long)
})

test('a writer that starts without one of them writes to the other', async () => {
  for (const store of ['redis', 'clickhouse'] as const) {
    await run.stop()
    await stack.kill(store)
    const [sets, other] =
      store === 'redis' ? [meanwhile(), 'clickhouse' as const] : [afterwards(), 'redis' as const]
    await rig.publish('eth', sets)
    run = await rig.start()
    await rig.written('eth', sets, [other])
    await assertSaid(store === 'redis' ? /^connect_redis: / : /^migrate: /)
    await stack.restart(store)
    await rig.written('eth', sets)
  }
  await rig.assertStored('eth', story)
})
