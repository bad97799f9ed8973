import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { connectLogs, type Logs } from '../../../src/log/connect.ts'
import { LatestValues } from '../../../src/log/latest-values.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { MAX_FRAME_BYTES } from '../../support/rigs/log-reading.ts'
import { StallingProxy } from '../../support/rigs/stalling-proxy.ts'
import { createTestCommon } from '../../support/rigs/test-common.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'

const COUNT = 1_500
const UNAVAILABLE = { code: 'store_unavailable' }

let stack: Stack
let proxy: StallingProxy
let logs: Logs
let values: LatestValues

const connectTo = (url: string): Promise<Logs> =>
  connectLogs(
    { urls: [url], prefix: 'latest', replicas: 1, max_frame_bytes: MAX_FRAME_BYTES },
    createTestCommon(),
  )

before(async () => {
  stack = await startStack({ services: ['nats'] })
  const [url = ''] = stack.natsUrls
  proxy = await StallingProxy.start(url)
  logs = await connectTo(url)
  values = await logs.openLatest('KEYS')
  for (let at = 0; at < COUNT; at += 100) {
    const names = Array.from({ length: 100 }, (_, offset) => `key${at + offset}`)
    await Promise.all(names.map((name) => values.put(name, Buffer.alloc(4_000))))
  }
})

after(async () => {
  await proxy?.stop()
  await logs?.close()
  await stack?.stop()
})

test('a read returns every value or fails: a stalled or closed connection never makes it shorter', async () => {
  assert.equal((await values.read('*')).length, COUNT)
  const interruptions = [
    ['stall', 5],
    ['close', 0],
    ['close', 5],
    ['close', 20],
  ] as const
  for (const [interrupt, afterMs] of interruptions) {
    const far = await connectTo(`nats://127.0.0.1:${proxy.port}`)
    const read = (await far.openLatest('KEYS')).read('*')
    setTimeout(() => (interrupt === 'stall' ? proxy.stall() : void far.close()), afterMs)
    const outcome = await read.then(
      (found) => found.length,
      (error: { code?: unknown }) => error.code,
    )
    assert.ok(outcome === COUNT || outcome === UNAVAILABLE.code, `${interrupt}: ${outcome}`)
    proxy.resume()
    await far.close()
  }
})

test('a name that is written during a read comes once, as it was last or before', async () => {
  let isOver = false
  const write = async (): Promise<void> => {
    for (let at = 0; !isOver; at++) await values.put(`key${at % COUNT}`, Buffer.alloc(4_000))
  }
  const writing = write()
  const names: string[] = []
  for (let round = 0; round < 5; round++)
    names.push(...(await values.read('*')).map(({ name }) => `${round} ${name}`))
  isOver = true
  await writing
  assert.equal(names.length, 5 * COUNT)
  assert.equal(new Set(names).size, 5 * COUNT)
})

test('a read waits for a replica that lacks the newest value, and fails if it stays behind', async (t) => {
  const behind = await startStack({ services: ['nats'] })
  t.after(() => behind.stop())
  const leader = await connect({ servers: stack.natsUrls })
  const replica = await connect({ servers: behind.natsUrls })
  t.after(() => Promise.all([leader.close(), replica.close()]))
  const stream = { name: 'behind', subjects: ['behind.>'] }
  const manager = await jetstreamManager(leader)
  await manager.streams.add(stream)
  await (await jetstreamManager(replica)).streams.add(stream)
  const reader = new LatestValues({
    ...{ client: jetstream(replica), manager, stream: 'behind', subject: 'behind' },
    ...{ isConnected: () => true, onUndelivered: () => undefined, logger: createTestCommon().logger },
  })
  for (const name of ['a', 'b']) await jetstream(leader).publish(`behind.${name}`)
  await jetstream(replica).publish('behind.a')
  await assert.rejects(reader.read('*'), UNAVAILABLE)
  const reading = reader.read('*')
  await sleep(500)
  await jetstream(replica).publish('behind.b')
  assert.deepEqual(
    (await reading).map(({ name }) => name),
    ['a', 'b'],
  )
})

test('a watch reports that there are no values yet, and those of a stream that was created again', async () => {
  const usage = await logs.openLatest('USAGE')
  const watched = new AbortController()
  const seen = new Set<string>()
  let isCurrent = false
  const watch = usage.watch({
    signal: watched.signal,
    onValue: ({ name }) => seen.add(name),
    onCurrent: () => {
      isCurrent = true
    },
  })
  await waitFor('the end of an empty list', () => isCurrent || undefined)
  for (let at = 0; at < 20; at++) await usage.put(`old${at}`, Buffer.from('x'))
  await waitFor('the first values', () => seen.size === 20 || undefined)
  const connection = await connect({ servers: [...stack.natsUrls] })
  await (await jetstreamManager(connection)).streams.delete('latest_USAGE')
  await connection.close()
  // Their sequence numbers are lower than those already seen.
  const again = await logs.openLatest('USAGE')
  for (let at = 0; at < 5; at++) await again.put(`new${at}`, Buffer.from('x'))
  await waitFor('the values of the new stream', () => seen.size === 25 || undefined)
  watched.abort()
  await watch
})

test('without a connection, reads and writes fail at once', async () => {
  const lost = await connectTo(stack.natsUrls[0] ?? '')
  const latest = await lost.openLatest('WORK')
  await stack.kill('nats')
  await waitFor('the lost connection', () =>
    latest.read('*').then(
      () => undefined,
      () => true,
    ),
  )
  const startedAt = performance.now()
  for (let each = 0; each < 20; each++) {
    await assert.rejects(latest.put('name', Buffer.from('x')), UNAVAILABLE)
    await assert.rejects(latest.read('*'), UNAVAILABLE)
  }
  // A single request that waited for the server would take 5 s.
  assert.ok(performance.now() - startedAt < 4_000)
  await lost.close()
})
