import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@clickhouse/client'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { storySets } from '../support/builders/story.ts'
import { RoleProcess } from '../support/rigs/pipeline.ts'
import { createWriterRig, eventually, type WriterRig } from '../support/rigs/writer-rig.ts'

let stack: Stack

before(async () => {
  stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
})

after(async () => {
  await stack?.stop()
})

async function withRig(
  options: Parameters<typeof createWriterRig>[1],
  work: (rig: WriterRig) => Promise<void>,
): Promise<void> {
  const rig = await createWriterRig(stack, options)
  try {
    await work(rig)
  } finally {
    await rig.close()
  }
}

async function flush(rig: WriterRig): Promise<void> {
  const redis = new Redis(stack.redisUrl)
  const keys = await redis.keys(`${rig.config.redis.prefix}:*`)
  if (keys.length > 0) await redis.del(keys)
  redis.disconnect()
}

async function forgetMarkers(rig: WriterRig): Promise<void> {
  const client = createClient({ url: stack.clickhouseUrl, database: rig.config.clickhouse.database })
  await client.command({ query: 'TRUNCATE TABLE markers' })
  await client.close()
}

/** Takes the oldest messages out of the log, as a retention limit would. */
async function truncateLog(rig: WriterRig, chain: string, kept: number): Promise<void> {
  const connection = await connect({ servers: stack.natsUrls })
  const manager = await jetstreamManager(connection)
  const name = `${rig.config.nats.prefix}_CHANGES_${chain}`
  const { config } = await manager.streams.info(name)
  await manager.streams.update(name, { ...config, max_msgs: kept })
  await eventually('the log to be cut', async () => {
    const { state } = await manager.streams.info(name)
    return state.messages <= kept ? true : undefined
  })
  await connection.close()
}

test('both stores equal the log of every chain, and reading it again changes nothing', async () => {
  await withRig({ chains: ['eth', 'bsc'] }, async (rig) => {
    const eth = storySets({ chain: 'eth', seed: 1, messages: 200 })
    const bsc = storySets({ chain: 'bsc', seed: 2, messages: 90 })
    await rig.publish('eth', eth.sets.slice(0, 120))
    const first = await rig.start()
    assert.match(first.readiness() ?? '', /starting/)
    await rig.publish('eth', eth.sets.slice(120))
    await rig.publish('bsc', bsc.sets)
    const head = await rig.written('eth', eth.sets)
    await rig.written('bsc', bsc.sets)
    await rig.assertStored('eth', eth)
    await rig.assertStored('bsc', bsc)
    assert.deepEqual(await rig.hot.head('eth'), head)
    assert.equal(first.readiness(), undefined)
    const last = eth.sets.at(-1)
    assert.deepEqual(
      { number: head.number, hash: head.hash, time: head.time, finalNumber: head.finalNumber },
      { ...last?.head, finalNumber: last?.finalNumber },
    )

    const metrics = await first.metrics()
    assert.match(
      metrics,
      new RegExp(`chaintape_writer_position_seq\\{chain="eth",store="redis"\\} ${head.seq}\n`),
    )
    assert.match(metrics, /chaintape_writer_rows_total\{chain="bsc",table="candles"\} [1-9]/)
    assert.match(metrics, /chaintape_writer_batches_total\{chain="eth",store="clickhouse"\} [1-9]/)
    assert.match(metrics, /chaintape_writer_batch_seconds_count\{chain="eth",store="clickhouse"\} [1-9]/)
    assert.match(metrics, /chaintape_writer_lag_seconds\{chain="eth",store="clickhouse"\} [1-9]/)
    await first.stop()
    await first.done

    await forgetMarkers(rig)
    const second = await rig.start()
    await rig.written('eth', eth.sets)
    await rig.written('bsc', bsc.sets)
    await rig.assertStored('eth', eth)
    await rig.assertStored('bsc', bsc)
    assert.deepEqual(await rig.marker('eth'), head)
    await second.stop()
  })
})

test('a batch is not larger than it has to be, and small ones do not wait long', async () => {
  await withRig({ writer: { max_batch_rows: 1, max_batch_ms: 60_000 } }, async (rig) => {
    const story = storySets({ chain: 'eth', seed: 7, messages: 12 })
    await rig.publish('eth', story.sets)
    const run = await rig.start()
    await rig.written('eth', story.sets)
    await rig.assertStored('eth', story)
    assert.match(await run.metrics(), /chaintape_writer_batches_total\{chain="eth",store="clickhouse"\} 12\n/)
  })
})

test('Redis that lost its data is filled again: before the start, while running, while starting anew', async () => {
  await withRig({}, async (rig) => {
    const story = storySets({ chain: 'eth', seed: 3, messages: 240 })
    const parts = [story.sets.slice(0, 80), story.sets.slice(80, 160), story.sets.slice(160)] as const
    const first = await rig.start()
    await rig.publish('eth', parts[0])
    await rig.written('eth', parts[0])
    await first.stop()

    await flush(rig)
    const second = await rig.start()
    await eventually('the documents to be back', async () => await rig.hot.head('eth'))
    await eventually('readiness', async () => (second.readiness() === undefined ? true : undefined))
    await rig.assertStored('eth', storySets({ chain: 'eth', seed: 3, messages: 80 }))
    assert.ok(second.lines.some(({ level, msg }) => level === 50 && msg === 'Redis lost data'))
    assert.ok(second.lines.some(({ msg }) => msg === 'Filling Redis from ClickHouse'))

    await flush(rig)
    await rig.publish('eth', parts[1])
    await rig.written('eth', parts[1])
    await rig.assertStored('eth', storySets({ chain: 'eth', seed: 3, messages: 160 }))

    // This Redis keeps nothing over a restart.
    await stack.restart('redis')
    await rig.publish('eth', parts[2])
    await rig.written('eth', parts[2])
    await eventually('the connection of the test', async () => rig.hot.head('eth').catch(() => undefined))
    await rig.assertStored('eth', story)
  })
})

test('Redis that lost its data while ClickHouse is away is filled from the log', async () => {
  await withRig({}, async (rig) => {
    const story = storySets({ chain: 'eth', seed: 11, messages: 60 })
    const run = await rig.start()
    await rig.publish('eth', story.sets)
    await rig.written('eth', story.sets)
    await stack.kill('clickhouse')
    await flush(rig)
    await rig.written('eth', story.sets, ['redis'])
    await stack.restart('clickhouse')
    await eventually('readiness', async () => (run.readiness() === undefined ? true : undefined))
    await rig.assertStored('eth', story)
    assert.ok(run.lines.every(({ msg }) => msg !== 'Filling Redis from ClickHouse'))
  })
})

test('Redis that lost its data is filled from ClickHouse once the log is cut', async () => {
  await withRig({}, async (rig) => {
    const story = storySets({ chain: 'eth', seed: 4, messages: 60 })
    const { sets } = story
    const first = await rig.start()
    await rig.publish('eth', sets.slice(0, 50))
    await rig.written('eth', sets.slice(0, 50))
    await first.stop()
    await truncateLog(rig, 'eth', 5)

    // Nothing is lost yet: a cut log is enough to go on from.
    const second = await rig.start()
    await rig.publish('eth', sets.slice(50, 53))
    await rig.written('eth', sets.slice(50, 53))
    await second.stop()

    await flush(rig)
    await stack.kill('clickhouse')
    const third = await rig.start()
    const isCut = ({ msg }: { msg: string }): boolean => /CHANGES does not reach back/.test(msg)
    await sleep(1_000)
    assert.equal(await rig.hot.head('eth'), undefined)
    await stack.restart('clickhouse')
    await eventually('the documents to be back', async () => await rig.hot.head('eth'))
    await rig.assertStored('eth', storySets({ chain: 'eth', seed: 4, messages: 53 }), story.world)
    assert.ok(third.lines.some(isCut))
    // No more at once than the log keeps.
    for (const more of [sets.slice(53, 57), sets.slice(57)]) {
      await rig.publish('eth', more)
      await rig.written('eth', more)
    }
    await rig.assertStored('eth', story)
  })
})

test('unavailable stores are retried, logged and counted; nothing is skipped', async () => {
  await withRig({}, async (rig) => {
    const story = storySets({ chain: 'eth', seed: 5, messages: 150 })
    const run = await rig.start()
    await rig.publish('eth', story.sets.slice(0, 50))
    await rig.written('eth', story.sets.slice(0, 50))
    for (const [service, from] of [
      ['clickhouse', 50],
      ['redis', 100],
    ] as const) {
      await stack.kill(service)
      await rig.publish('eth', story.sets.slice(from, from + 50))
      const reason = await eventually('a reason not to be ready', async () => run.readiness())
      assert.match(reason, service === 'redis' ? /Redis/ : /ClickHouse/)
      await stack.restart(service)
      await rig.written('eth', story.sets.slice(from, from + 50))
      await eventually('readiness', async () => (run.readiness() === undefined ? true : undefined))
    }
    await eventually('the connection of the test', async () => rig.hot.head('eth').catch(() => undefined))
    await rig.assertStored('eth', story)
    assert.match(await run.metrics(), /chaintape_writer_retries_total\{activity="eth\/redis"\} [1-9]/)
    assert.ok(run.lines.some(({ msg }) => msg === 'Waiting for Redis'))
  })
})

test('a log that goes away is waited for', async () => {
  await withRig({}, async (rig) => {
    const story = storySets({ chain: 'eth', seed: 10, messages: 60 })
    await rig.start()
    await rig.publish('eth', story.sets.slice(0, 30))
    await rig.written('eth', story.sets.slice(0, 30))
    await stack.restart('nats')
    await rig.publish('eth', story.sets.slice(30))
    await rig.written('eth', story.sets)
    await rig.assertStored('eth', story)
  })
})

test('a writer can be stopped while a store is down, and the next one continues', async () => {
  await withRig({}, async (rig) => {
    const story = storySets({ chain: 'eth', seed: 6, messages: 40 })
    const first = await rig.start()
    await rig.publish('eth', story.sets.slice(0, 20))
    await rig.written('eth', story.sets.slice(0, 20))
    await stack.kill('clickhouse')
    await rig.publish('eth', story.sets.slice(20))
    await eventually('a reason not to be ready', async () => first.readiness())
    const starting = await rig.start()
    await Promise.all([first.stop(), starting.stop()])
    await Promise.all([first.done, starting.done])
    await stack.restart('clickhouse')
    await rig.start()
    await rig.written('eth', story.sets)
    await rig.assertStored('eth', story)
  })
})

test('versions that go back, and a message of another chain, stop the chain before it writes them', async () => {
  for (const broken of [{ seq: 2 }, { seq: 20 }, { chain: 'bsc', seq: 40 }]) {
    await withRig({}, async (rig) => {
      const { sets } = storySets({ chain: 'eth', seed: 8, messages: 10 })
      const run = await rig.start()
      await rig.publish('eth', sets)
      await rig.written('eth', sets)
      await rig.publish(
        'eth',
        sets.slice(-1).map((set) => ({ ...set, ...broken })),
      )
      await eventually('the fault', async () => /^eth: diverged: /.exec(run.readiness() ?? '') ?? undefined)
      assert.equal((await rig.marker('eth'))?.seq, 20)
    })
  }
})

test('a writer process killed again and again loses nothing and repeats nothing that shows', async () => {
  await withRig({ writer: { max_batch_rows: 200, max_batch_ms: 10 } }, async (rig) => {
    const story = storySets({ chain: 'eth', seed: 9, messages: 120 })
    const logFile = join(stack.dataDir, 'writer.log')
    const start = (): RoleProcess => new RoleProcess('writer', rig.configFile, logFile)
    const pausesMs = [0, 30, 250, 5, 100, 15]
    const setsPerKill = story.sets.length / pausesMs.length
    let child = start()
    for (const [kills, pauseMs] of pausesMs.entries()) {
      const writtenBefore = (await rig.marker('eth'))?.seq ?? 0
      await rig.publish('eth', story.sets.slice(kills * setsPerKill, (kills + 1) * setsPerKill))
      await eventually('a batch', async () => {
        const written = (await rig.marker('eth'))?.seq ?? 0
        return written > writtenBefore ? true : undefined
      })
      await sleep(pauseMs)
      await child.kill('SIGKILL')
      child = start()
    }
    await rig.written('eth', story.sets)
    await rig.assertStored('eth', story)
    await child.ready()
    await child.kill('SIGTERM')
    assert.equal(child.exitCode, 0)
  })
})
