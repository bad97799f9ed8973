import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { consume, lastSequence, openConsumer } from '../../src/log/consume.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

const STREAM = 'delivered'
/** Longer than it takes to notice that messages are missing. */
const NOTICED_MS = 6_000

let stack: Stack
let connection: NatsConnection
/** Consumers that were given up. */
let given = 0

before(async () => {
  stack = await startStack({ services: ['nats'] })
  connection = await connect({ servers: stack.natsUrls })
  await (await jetstreamManager(connection)).streams.add({ name: STREAM, subjects: [`${STREAM}.>`] })
})

after(async () => {
  await connection?.close()
  await stack?.stop()
})

async function publish(name: string): Promise<number> {
  return (await jetstream(connection).publish(`${STREAM}.${name}`)).seq
}

/** The next sequence that a consumer of these names gives, starting after the end of the stream. */
async function nextOf(names: string, signal: AbortSignal): Promise<number | undefined> {
  const manager = await jetstreamManager(connection)
  const end = (): Promise<number> => lastSequence(manager, STREAM)
  const after = await end()
  const position = { opt_start_seq: after + 1, filter_subjects: `${STREAM}.${names}` }
  const consumer = await openConsumer(jetstream(connection), STREAM, position)
  const watch = { isConnected: () => true, onUndelivered: () => void given++ }
  for await (const { seq } of consume(consumer, { ...watch, signal, after, end })) return seq
  return undefined
}

test('a consumer waits for as long as its stream has nothing new', async () => {
  const stop = new AbortController()
  await publish('a')
  const waiting = nextOf('>', stop.signal)
  await sleep(NOTICED_MS)
  const seq = await publish('b')
  assert.equal(await waiting, seq)
  assert.equal(given, 0)
})

test('a consumer fails if it sends heartbeats, but not the messages of its stream', async (t) => {
  const stop = new AbortController()
  t.after(() => stop.abort())
  // As from a replica that is behind: the stream has a message that this consumer never delivers.
  const waiting = nextOf('none', stop.signal)
  await sleep(500)
  const seq = await publish('c')
  const startedMs = performance.now()
  await assert.rejects(waiting, new RegExp(`does not deliver message ${seq}`))
  assert.ok(performance.now() - startedMs < NOTICED_MS)
  assert.equal(given, 1)
})

test('consumers that are no longer read are deleted', async () => {
  const { streams } = await jetstreamManager(connection)
  await waitFor('the consumers of the tests before to be gone', async () =>
    (await streams.info(STREAM)).state.consumer_count === 0 ? true : undefined,
  )
  const stop = new AbortController()
  const waiting = Array.from({ length: 10 }, () => nextOf('>', stop.signal))
  await waitFor('ten consumers', async () =>
    (await streams.info(STREAM)).state.consumer_count === 10 ? true : undefined,
  )
  stop.abort()
  await Promise.all(waiting)
  await waitFor('them to be gone', async () =>
    (await streams.info(STREAM)).state.consumer_count === 0 ? true : undefined,
  )
})
