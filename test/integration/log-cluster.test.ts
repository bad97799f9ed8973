import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

/** Three NATS nodes. Those that are left elect a leader within 9 s; without care the client takes up to 50 s. */
const RESUMED_MS = 30_000
const READERS = 4
const PUBLISH_MS = 50
/** As of an engine. */
const IN_FLIGHT = 64

let stack: Stack
const opened: Logs[] = []

before(async () => {
  stack = await startStack({ services: ['nats'], natsNodes: 3, natsSync: 'lazy' })
})

after(async () => {
  await Promise.all(opened.map((logs) => logs.close()))
  await stack?.stop()
})

async function connect(): Promise<Logs> {
  const options = { urls: stack.natsUrls, prefix: 'cluster', replicas: 3, max_frame_bytes: 900_000 }
  const logs = await connectLogs(options, createTestCommon())
  opened.push(logs)
  return logs
}

test('writer, readers and watchers go on when a node is killed, whatever it held', async (t) => {
  const stop = new AbortController()
  // Otherwise the process of a failed test would go on publishing.
  t.after(() => stop.abort())
  const publisher = await (await (await connect()).open('BLOCKS', 'local')).openPublisher()
  const values = await (await connect()).openLatest('WORK')
  let [published, stored] = [0, 0]
  const publishing = (async () => {
    const underWay: Promise<void>[] = []
    const onStored = (): void => {
      stored++
    }
    while (!stop.signal.aborted) {
      underWay.push(publisher.publish(Buffer.from(String(published++))).then(onStored))
      if (underWay.length === IN_FLIGHT) await underWay.shift()
      await sleep(PUBLISH_MS)
    }
    await Promise.all(underWay)
  })()
  const read: string[][] = []
  const reading = Array.from({ length: READERS }, async (_, nth) => {
    const log = await (await connect()).open('BLOCKS', 'local')
    const bodies: string[] = []
    read[nth] = bodies
    for await (const { body } of log.read({ after: undefined, signal: stop.signal }))
      bodies.push(Buffer.from(body).toString())
  })
  const seen = new Set<string>()
  const watching = values.watch({
    signal: stop.signal,
    onValue: ({ name }) => seen.add(name),
    onCurrent: () => undefined,
  })
  const reaches = (goal: number): Promise<true> =>
    waitFor(
      `all readers to reach ${goal}`,
      () => (read.length === READERS && read.every((bodies) => bodies.length > goal) ? true : undefined),
      RESUMED_MS,
    )
  await reaches(10)
  for (const node of ['nats-1', 'nats-2', 'nats-3'] as const) {
    const killedMs = performance.now()
    await stack.kill(node)
    const goal = published + 2
    await reaches(goal)
    const sinceMs = (): number => Math.round(performance.now() - killedMs)
    const continuedMs = sinceMs()
    // The messages that were under way do not hold up the later ones.
    await waitFor('the backlog to be stored', () => (published - stored < 5 ? true : undefined), RESUMED_MS)
    t.diagnostic(
      `${node} killed: all continued after ${continuedMs} ms, without a backlog after ${sinceMs()}`,
    )
    await stack.restart(node)
    await waitFor('a value to be written', () => values.put(node, Buffer.from('1')).catch(() => undefined))
    await waitFor('its watcher', () => (seen.has(node) ? true : undefined), RESUMED_MS)
  }
  stop.abort()
  await Promise.all([publishing, watching, ...reading])
  const expected = Array.from({ length: published }, (_, at) => String(at))
  for (const bodies of read) assert.deepEqual(bodies, expected.slice(0, bodies.length))
})
