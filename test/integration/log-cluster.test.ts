import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { natsPortsPerNode } from '../../src/sandbox/servers/nats.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { LogClients } from '../support/rigs/log-clients.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

/** Three NATS nodes. Those that are left elect a leader within 9 s; without care the client takes up to 50 s. */
const RESUMED_MS = 30_000
const READERS = 4
const PUBLISH_MS = 50
/** As of an engine. */
const IN_FLIGHT = 64
const ROUNDS = 20

let stack: Stack
let clients: LogClients

before(async () => {
  stack = await startStack({ services: ['nats'], natsNodes: 3, natsSync: 'lazy' })
  clients = new LogClients(stack.natsUrls, 'cluster')
})

after(async () => {
  await clients?.close()
  await stack?.stop()
})

test('writer, readers and watchers go on when a node is killed, whatever it held', async (t) => {
  const stop = new AbortController()
  // Otherwise the process of a failed test would go on publishing.
  t.after(() => stop.abort())
  const publisher = await (await (await clients.connect()).open('BLOCKS', 'local')).openPublisher()
  const values = await (await clients.connect()).openLatest('WORK')
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
  const { read, done: reading } = clients.follow('local', READERS, stop.signal)
  const seen = new Set<string>()
  const watching = values.watch({
    signal: stop.signal,
    onValue: ({ name }) => seen.add(name),
    onCurrent: () => undefined,
  })
  const reaches = (goal: number): Promise<true> =>
    waitFor(
      `all readers to reach ${goal}`,
      () => (read.every((bodies) => bodies.length > goal) ? true : undefined),
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
  await Promise.all([publishing, watching, reading])
  const expected = Array.from({ length: published }, (_, at) => String(at))
  for (const bodies of read) assert.deepEqual(bodies, expected.slice(0, bodies.length))
})

test('two writers that append at once: one is fenced, and every node holds the same', async (t) => {
  const logs = await Promise.all([clients.connect(), clients.connect()])
  const opened = await Promise.all(logs.map((each) => each.open('BLOCKS', 'contested')))
  const [log] = opened
  if (log === undefined) throw new Error('no log')
  for (let round = 0; round < ROUNDS; round++) {
    const publishers = await Promise.all(opened.map((each) => each.openPublisher()))
    const outcomes = await Promise.all(
      publishers.map((publisher, writer) =>
        Promise.allSettled(
          Array.from({ length: IN_FLIGHT }, (_, at) => publisher.publish(Buffer.from(`${writer} ${at}`))),
        ),
      ),
    )
    const fenced = outcomes.filter((all) => all.some(({ status }) => status === 'rejected'))
    assert.equal(fenced.length, 1, `of two writers one is fenced in round ${round}`)
  }
  const end = await log.lastSequence()
  t.diagnostic(`${end} messages of two writers in ${ROUNDS} rounds`)
  await waitFor(
    `all nodes to hold ${end} messages`,
    async () => {
      const held = await Promise.all(
        [0, 1, 2].map((node) => lastSequenceAt(node, 'cluster_BLOCKS_contested')),
      )
      return held.every((last) => last === end) ? true : undefined
    },
    RESUMED_MS,
  )
})

/** The end of a stream as one node has it. */
async function lastSequenceAt(node: number, stream: string): Promise<number | undefined> {
  type Accounts = { readonly account_details?: readonly { readonly stream_detail?: readonly Detail[] }[] }
  type Detail = { readonly name: string; readonly state: { readonly last_seq: number } }
  const monitorPort = stack.ports.nats?.[node * natsPortsPerNode + 1]
  const answer = await fetch(`http://127.0.0.1:${monitorPort}/jsz?streams=true`)
  const { account_details: accounts = [] } = (await answer.json()) as Accounts
  return accounts.flatMap(({ stream_detail = [] }) => stream_detail).find(({ name }) => name === stream)
    ?.state.last_seq
}
