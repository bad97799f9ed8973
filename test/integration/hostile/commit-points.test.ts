import { after, afterEach, before, beforeEach, test } from 'node:test'
import { Redis } from 'ioredis'
import { type Stack, startStack } from '../../../dev/stack.ts'
import { type Story, tellStory } from '../../support/story.ts'
import { createWriterRig, eventually, type WriterRig, type WriterRun } from '../../support/writer-rig.ts'

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
  story = tellStory({ chain: 'eth', seed: seed++, messages: MESSAGES })
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
  await rig.assertTold('eth', story)
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
  await assertSaid(/^eth\/redis: Redis does not answer/)
  await assertAt('clickhouse', meanwhile())
  await assertAt('redis', first())
  await stack.restart('redis')
  await assertMended()
})

test('while Redis hangs, rows of ClickHouse go on, and the lag of Redis is told', async () => {
  await stack.kill('redis', 'SIGSTOP')
  try {
    await rig.publish('eth', meanwhile())
    await rig.written('eth', meanwhile(), ['clickhouse'])
    await assertSaid(/^eth\/redis: Redis does not answer/)
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
    await assertSaid(/^eth\/redis: Redis does not answer/)
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
  await assertSaid(/^eth\/clickhouse: ClickHouse does not answer/)
  await assertAt('redis', meanwhile())
  await assertAt('clickhouse', first())
  await stack.restart('clickhouse')
  await assertMended()
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
  await rig.assertTold('eth', story)
})
