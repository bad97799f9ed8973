import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change } from '../../src/domain/change.ts'
import { encodeGenerations } from '../../src/domain/generation.ts'
import { MEME, MEME_WETH, samplePair, sampleToken, sampleTrade } from '../support/builders/market-samples.ts'
import { type Client, type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

type Push = {
  readonly seq: number
  readonly cursor: string
  readonly result: { readonly topic: string; readonly tx?: { readonly block_number: number } }
}
type Ack = { readonly result: { readonly cursor?: string; readonly recovered?: boolean } }

const TX = ['tx', MEME_WETH, 'eth']
const NAMES = ['One', 'Two', 'Three', 'Four', 'Five', 'Six']

let world: GatewayWorld
let gateway: Gateway
let block = 1_000

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  await publish(1, documents(1))
  await world.storeAll()
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

/** Each generation calls the token, and both sides of the pair, by a name of its own. */
function documents(number: number): Change[] {
  const symbol = NAMES[number - 1] as string
  const pair = samplePair()
  const [token0, token1] = [pair.token0, pair.token1].map((side) => ({ ...side, symbol }))
  return [
    { type: 'pair', pair: { ...pair, token0, token1 } as typeof pair },
    { type: 'token', token: sampleToken({ symbol, name: symbol }) },
  ]
}

function trade(number: number, log = 0): Change {
  const symbol = NAMES[number - 1] as string
  const { sold } = sampleTrade()
  return { type: 'trade', trade: sampleTrade({ key: { block, tx: 0, log }, sold: { ...sold, symbol } }) }
}

async function publish(number: number, changes: readonly Change[]): Promise<void> {
  await world.publish(changes, {}, { number })
}

/** The same block in each of these generations. */
async function publishBlock(numbers: readonly number[], events = 1): Promise<void> {
  block++
  for (const number of numbers)
    await publish(number, [
      ...documents(number),
      ...Array.from({ length: events }, (_, log) => trade(number, log)),
    ])
}

/** Publishes all blocks so far in the next generation, too. */
async function build(number: number): Promise<void> {
  const from = world.setsOf({ number: number - 1 })
  for (const set of from) {
    const events = set.changes.flatMap((change) =>
      change.type === 'trade'
        ? [
            {
              ...change,
              trade: { ...change.trade, sold: { ...change.trade.sold, symbol: NAMES[number - 1] as string } },
            },
          ]
        : [],
    )
    await publish(number, [...documents(number), ...events])
  }
  await world.storeAll('eth', { number })
}

async function switchTo(number: number, graceSeconds = 600): Promise<void> {
  const generations = await world.logs.generations()
  const until = Math.floor(Date.now() / 1_000) + graceSeconds
  await generations.change('eth', ({ serving: before }) => ({
    serving: { number },
    retiring: { ...before, until },
    lastNumber: number,
  }))
}

async function served(at: Gateway): Promise<string> {
  const { body } = await at.get(`/v2/pairs/${MEME_WETH}-eth`)
  return (body as { token0_symbol: string }).token0_symbol
}

async function statusOf(chain: string, at = gateway) {
  const { body } = await at.get('/v2/status')
  type Status = { chain: string; generation: number; refold?: { generation: number; state: string } }
  const found = (body as { chains: Status[] }).chains.find((each) => each.chain === chain)
  assert.ok(found !== undefined)
  return found
}

async function untilServed(at: Gateway, number: number): Promise<void> {
  await waitUntil(`generation ${number} is served`, async () => (await served(at)) === NAMES[number - 1])
}

async function subscribe(client: Client, params: readonly unknown[]): Promise<Ack['result']> {
  return ((await client.request(1, 'subscribe', params)) as Ack).result
}

const pushes = async (client: Client, count: number) => (await client.take(count)) as Push[]
const blocks = (all: readonly Push[]) => all.map(({ result }) => result.tx?.block_number)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Takes a few pushes, disconnects and resumes, until it is over; gives the blocks of all pushes. */
async function resumeAgainAndAgain(
  isOver: () => boolean,
  onSubscribed: () => void,
): Promise<(number | undefined)[]> {
  const received: Push[] = []
  let from: string | undefined
  for (;;) {
    const client = await gateway.connect()
    const ack = await subscribe(client, [...TX, { cursor: true, ...(from !== undefined && { from }) }])
    if (from !== undefined) assert.equal(ack.recovered, true)
    from ??= ack.cursor
    onSubscribed()
    const count = 1 + Math.floor(Math.random() * 5)
    while (!isOver() || received.at(-1)?.result.tx?.block_number !== block) {
      if (client.waiting === 0) await sleep(1)
      else received.push(...(await pushes(client, 1)))
      if (!isOver() && received.length % 5 === count % 5) break
    }
    from = received.at(-1)?.cursor ?? from
    if (isOver()) {
      const rest = (await client.request(9, 'ping', [])) as Push
      if ('cursor' in rest) received.push(rest)
      await client.close()
      return blocks(received)
    }
    await client.close()
    await sleep(1)
  }
}

test('a switch under load: every answer of one generation, every event once, no socket closed', async (t) => {
  for (let i = 0; i < 5; i++) await publishBlock([1])
  await build(2)
  const clients = await Promise.all(Array.from({ length: 10 }, () => gateway.connect()))
  for (const client of clients) await subscribe(client, [...TX, { cursor: true }])
  const first = block + 1
  const answers: { status: number; text: string }[] = []
  let isOver = false
  const paths = [
    `/v2/pairs/${MEME_WETH}-eth`,
    `/v2/tokens/${MEME}-eth`,
    `/v2/txs/${MEME_WETH}-eth?limit=5`,
    `/v2/contracts/${MEME}-eth`,
    `/udf/symbols?symbol=${MEME_WETH}-eth`,
  ]
  const load = paths.map(async (path) => {
    while (!isOver) {
      const { status, body } = await gateway.get(path)
      answers.push({ status, text: JSON.stringify(body) })
      // Load and gateway share this process: without a pause, the time of the switch would be that of the load.
      await sleep(5)
    }
  })
  const batch = (async () => {
    while (!isOver) {
      const { status, body } = await gateway.post('/v2/tokens/search', { token_ids: [`${MEME}-eth`] })
      answers.push({ status, text: JSON.stringify(body) })
      await sleep(5)
    }
  })()
  const started = Array.from({ length: 20 }, () => Promise.withResolvers<void>())
  const resuming = started.map(({ resolve }) => resumeAgainAndAgain(() => isOver, resolve))
  await Promise.all(started.map(({ promise }) => promise))
  for (let i = 0; i < 20; i++) await publishBlock([1, 2], 2)
  await (await world.logs.generations()).change('eth', (now) => ({ ...now, building: { number: 2 } }))
  await waitUntil('the refold is shown', async () => {
    const { generation, refold } = await statusOf('eth')
    return generation === 1 && refold?.state === 'building' && refold.generation === 2
  })
  const switchedAt = Date.now()
  await switchTo(2)
  const switching = untilServed(gateway, 2).then(() => Date.now() - switchedAt)
  for (let i = 0; i < 40; i++) await publishBlock(i % 2 === 0 ? [1, 2] : [2, 1], 2)
  const took = await switching
  isOver = true
  await Promise.all([...load, batch])
  assert.deepEqual(await statusOf('eth').then(({ generation, refold }) => [generation, refold]), [
    2,
    undefined,
  ])
  t.diagnostic(`the switch took ${took} ms; the gateway shares its process with the load and all clients`)
  for (const { status, text } of answers) {
    assert.equal(status, 200, text)
    assert.equal(NAMES.filter((name) => text.includes(name)).length, 1, text)
  }
  const of = (name: string) => answers.filter(({ text }) => text.includes(name)).length
  assert.ok(of('One') > 0 && of('Two') > 0, `${of('One')} and ${of('Two')} answers`)
  const all = range(first, block).flatMap((each) => [each, each])
  for (const received of await Promise.all(resuming)) assert.deepEqual(received, all)
  for (const client of clients) {
    const received = await pushes(client, all.length)
    assert.deepEqual(blocks(received), all)
    assert.deepEqual(await client.request(9, 'ping', []), { jsonrpc: '2.0', id: 9, result: 'pong' })
    await client.close()
  }
})

test('cursors of the generation before continue: between sets, in the middle of one, and after a restart', async () => {
  await publishBlock([2])
  await world.storeAll('eth', { number: 2 })
  await makeRoomFor(3)
  await build(3)
  const client = await gateway.connect()
  const ack = await subscribe(client, [...TX, { cursor: true }])
  await publishBlock([2, 3], 3)
  const middle = await pushes(client, 3)
  await publishBlock([2, 3])
  const [last] = await pushes(client, 1)
  await client.close()
  const seen = block
  await switchTo(3)
  await untilServed(gateway, 3)
  await publishBlock([2, 3])
  const restarted = await world.startGateway()
  for (const at of [gateway, restarted]) {
    const resumes: [string | undefined, number[]][] = [
      [ack.cursor, [seen - 1, seen - 1, seen - 1, seen, block]],
      [middle[0]?.cursor, [seen - 1, seen - 1, seen, block]],
      [middle[1]?.cursor, [seen - 1, seen, block]],
      [middle[2]?.cursor, [seen, block]],
      [last?.cursor, [block]],
    ]
    for (const [from, expected] of resumes) {
      const again = await at.connect()
      const { recovered } = await subscribe(again, [...TX, { from }])
      assert.equal(recovered, true)
      const received = await pushes(again, expected.length)
      assert.deepEqual(blocks(received), expected)
      assert.deepEqual(await again.request(9, 'ping', []), { jsonrpc: '2.0', id: 9, result: 'pong' })
      await again.close()
    }
  }
  await restarted.stop()
  // The generation before is removed: its cursors are of an unknown log.
  const generations = await world.logs.generations()
  await generations.change('eth', ({ retiring: _, ...rest }) => rest)
  await waitUntil('its cursors are refused', async () => {
    const again = await gateway.connect()
    const { recovered } = await subscribe(again, [...TX, { from: last?.cursor }])
    await again.close()
    return recovered === false
  })
})

test('a generation that is behind is not served: the one before serves on, and the details say so', async () => {
  await makeRoomFor(4)
  await switchTo(4)
  await waitUntil('it is reported', () => (gateway.role.details?.() ?? []).length > 0)
  assert.deepEqual(gateway.role.details?.(), ['eth: generation 3 is still served: it has not caught up yet'])
  assert.equal(gateway.role.readiness(), undefined)
  assert.equal(await served(gateway), 'Three')
  assert.deepEqual((await statusOf('eth')).refold, { generation: 4, state: 'switching' })
  await build(4)
  await untilServed(gateway, 4)
  await waitUntil('nothing is reported', () => gateway.role.details?.().length === 0)
})

test('a generation that is ahead waits for the served one, but not longer than that is continued', async () => {
  await makeRoomFor(5)
  await build(5)
  const client = await gateway.connect()
  await subscribe(client, [...TX, { cursor: true }])
  await publishBlock([5])
  await world.storeAll('eth', { number: 5 })
  await switchTo(5)
  // It was continued after all: nothing is skipped.
  await sleep(300)
  assert.equal(await served(gateway), 'Four')
  await publish(4, [...documents(4), trade(4)])
  await untilServed(gateway, 5)
  assert.deepEqual(blocks(await pushes(client, 1)), [block])
  await makeRoomFor(6)
  await build(6)
  await publishBlock([6])
  await world.storeAll('eth', { number: 6 })
  await switchTo(6, 2)
  await untilServed(gateway, 6)
  // Subscribers cannot know what they missed: they resume by their cursors.
  await client.closed
})

test('an entry that NATS has lost is waited for', async () => {
  const entry = { serving: { number: 2 }, lastNumber: 2 }
  await world.history?.saveGenerations('bsc', Buffer.from(encodeGenerations(entry)).toString())
  await world.publish(documents(2), { chain: 'bsc' }, { number: 2 })
  const starting = world.startGateway()
  assert.equal(await Promise.race([starting, sleep(1_000, 'waits')]), 'waits')
  await (await world.logs.generations()).change('bsc', () => entry)
  const restored = await starting
  assert.equal((await statusOf('bsc', restored)).generation, 2)
  await restored.stop()
})

/** The generation before the last one is removed. */
async function makeRoomFor(number: number): Promise<void> {
  await (await world.logs.generations()).change('eth', ({ retiring: _, ...rest }) => rest)
  await world.logs.removeChanges('eth', { number })
}
