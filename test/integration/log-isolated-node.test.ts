import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { ClusterLinks } from '../support/rigs/cluster-links.ts'
import { LogClients } from '../support/rigs/log-clients.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

/** A node that led the cluster notices after up to 20 s that the others are gone, and its clients leave 10 s later. */
const RESUMED_MS = 60_000
/** More than nodes: clients choose at random, and the node that is cut off should have some. */
const READERS = 6

let links: ClusterLinks
let stack: Stack
let clients: LogClients

before(async () => {
  links = await ClusterLinks.open()
  stack = await startStack({ services: ['nats'], natsSync: 'lazy', ...links.stackOptions })
  clients = new LogClients(stack.natsUrls, 'isolated')
})

after(async () => {
  await clients?.close()
  await stack?.stop()
  await links?.close()
})

test('clients of a node that is cut off from the others go on at another one', async (t) => {
  const stop = new AbortController()
  t.after(() => stop.abort())
  const publisher = await (await (await clients.connect()).open('BLOCKS', 'local')).openPublisher()
  const { read, done: reading } = clients.follow('local', READERS, stop.signal)
  let published = 0
  const arrives = async (): Promise<void> => {
    const body = String(published++)
    await publisher.publish(Buffer.from(body))
    await waitFor(
      `message ${body} at all readers`,
      () => (read.every((bodies) => bodies.at(-1) === body) ? true : undefined),
      RESUMED_MS,
    )
  }
  await arrives()
  for (const [node, how] of [
    [0, 'reset'],
    [1, 'stalled'],
  ] as const) {
    const cutMs = performance.now()
    links.cutOff(node, how)
    await sleep(100)
    await arrives()
    t.diagnostic(
      `node ${node} cut off (${how}): all continued after ${Math.round(performance.now() - cutMs)} ms`,
    )
    links.restore(node)
    await arrives()
  }
  stop.abort()
  await reading
  const expected = Array.from({ length: published }, (_, at) => String(at))
  for (const bodies of read) assert.deepEqual(bodies, expected)
})
