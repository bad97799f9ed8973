import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sampleCandle, samplePair, sampleTrade } from '../../support/builders/market-samples.ts'
import { TEST_PLANS } from '../../support/builders/test-key.ts'
import { BULKY_SIDE, KLINE, TradedPair, TX } from '../../support/builders/traded-pair.ts'
import { API_KEY, type Client, type Gateway, type GatewayWorld } from '../../support/rigs/gateway-world.ts'

type Reply = {
  readonly id: number
  readonly result?: { readonly cursor?: string; readonly recovered?: boolean; readonly topic?: string }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object }
}
type Row = (string | number)[]

const SETS = 150
const TRADES_PER_SET = 20
const MESSAGES_PER_SECOND = 20

let traded: TradedPair
let world: GatewayWorld
let gateway: Gateway
let row: Row

before(async () => {
  traded = await TradedPair.start()
  world = traded.world
  for (let set = 0; set < SETS; set++) await world.publish(traded.trades(TRADES_PER_SET))
  await world.storeAll()
  const sockets = { connections: 100, messages_per_second: MESSAGES_PER_SECOND }
  gateway = await world.startGateway({ default: { ...TEST_PLANS.default, sockets } })
  const client = await gateway.connect()
  const { result } = await subscribe(client, [...TX, { cursor: true }])
  row = (JSON.parse(Buffer.from((result?.cursor ?? '').slice(3), 'base64url').toString()) as [Row])[0]
  await client.close()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

const forged = (...changed: Row) => `c1.${Buffer.from(JSON.stringify([changed])).toString('base64url')}`
/** The beginning of the log: a cursor of a chain that had no block yet. */
const beginning = () => forged(row[0] as string, row[1] as string, 0, 0, 0, 0, 0)

async function subscribe(client: Client, params: readonly unknown[], id = 1): Promise<Reply> {
  return (await client.request(id, 'subscribe', params)) as Reply
}

async function used(at: Gateway = gateway): Promise<number> {
  return ((await at.get('/v2/usage')).body as { cu_used: number }).cu_used
}

test('cursors that were made up: typed errors or no recovery, never a replay', async () => {
  const client = await gateway.connect()
  const [chain, epoch, seq, link, version, time] = row as [string, string, number, number, number, number]
  const before = await used()
  const refused = async (cursor: string, message: string) => {
    const { error } = await subscribe(client, [...TX, { from: cursor }])
    assert.deepEqual(error, { code: -32602, message: `the cursor ${message}`, data: { option: 'from' } })
  }
  const unreadable = 'is malformed; use the cursor of a push'
  await refused(forged(chain, epoch, seq, link, 0, time, 0), unreadable)
  await refused(forged(chain, epoch, 0, 0, 0, time, 0), unreadable)
  await refused(forged(chain, epoch, seq, link, version, 2 ** 40, 0), unreadable)
  await refused(forged(chain, epoch, seq, -1, version, time, 0), unreadable)
  await refused(forged(chain, epoch, seq + 1_000, link, version, time, 0), 'is beyond the head of eth')
  await refused(forged('bsc', epoch, seq, link, version, time, 0), 'says nothing of eth')
  const notRecovered = async (cursor: string) => {
    const { result } = await subscribe(client, [...TX, { from: cursor }])
    const reason = { code: -32005, message: 'the cursor belongs to another log of eth' }
    assert.deepEqual(result, { ...result, recovered: false, reason })
  }
  await notRecovered(forged(chain, 'another', seq, link, version, time, 0))
  // The position exists, in memory or in the log only, but is not what it says.
  await notRecovered(forged(chain, epoch, seq, (link + 1) % 2 ** 32, version, time, 0))
  await notRecovered(forged(chain, epoch, 5, 12_345, 1, 1, 0))
  await notRecovered(forged(chain, epoch, 5, 12_345, 1, 1, 0, 5, 1, 1, 1, 1))
  assert.deepEqual(await client.request(9, 'ping', []), { jsonrpc: '2.0', id: 9, result: 'pong' })
  assert.equal(await used(), before)
  await client.close()
})

test('a replay costs 50 CU per started thousand of events read, whatever it shows of them', async () => {
  let events = SETS * TRADES_PER_SET
  for (const params of [KLINE, TX]) {
    const pushes = params === TX ? events : 0
    const before = await used()
    const client = await gateway.connect()
    const { result } = await subscribe(client, [...params, { from: beginning() }])
    assert.equal(result?.recovered, true)
    // What is live comes after all that was replayed.
    await world.publish([...traded.trades(1), { type: 'candle', candle: sampleCandle() }])
    await client.take(pushes + 1)
    events++
    await client.close()
    const added = (await used()) - before
    // The newest may have been read with the rest, or come live.
    assert.ok([150, 200].includes(added), `${added}`)
  }
})

test('a key runs two replays at a time; the next wait, the socket goes on, and a full queue refuses', async () => {
  // The queue of a key is as long as one connection may have subscriptions.
  const sockets = { connections: 100, messages_per_second: 1_000, subscriptions: 2 }
  const slow = await world.startGateway({ default: { ...TEST_PLANS.default, sockets } })
  const clients = await Promise.all([1, 2, 3, 4].map(() => slow.connect()))
  for (let nth = 0; nth < 60; nth++) await world.publish(traded.trades(1, { sold: BULKY_SIDE }))
  const [first, second, third, fourth] = clients as [Client, Client, Client, Client]
  // Larger than all buffers: they run until their readers go on.
  for (const each of [first, second]) {
    assert.equal((await subscribe(each, [...TX, { from: beginning() }])).result?.recovered, true)
    each.socket.pause()
  }
  for (const params of [TX, KLINE])
    assert.equal((await subscribe(third, [...params, { from: beginning() }])).result?.recovered, true)
  assert.deepEqual((await subscribe(fourth, [...TX, { from: beginning() }])).error, {
    code: -32002,
    message: '2 replays of the key are waiting already; retry when some have caught up',
    data: { limit: 'replays', max: 2, max_waiting: 2 },
  })
  // Without a replay, and with a cursor of the present, there is no such limit.
  const { result } = await subscribe(fourth, [...TX, { cursor: true }], 2)
  assert.equal((await subscribe(fourth, [...TX, { from: result?.cursor }], 3)).result?.recovered, true)
  assert.equal(((await third.request(4, 'unsubscribe', KLINE)) as Reply).error, undefined)
  assert.equal(third.waiting, 0)
  // The place that was given up is free; a client that leaves takes its waiting replays along.
  assert.equal((await subscribe(fourth, [...TX, { from: beginning() }], 5)).result?.recovered, true)
  await third.close()
  first.socket.terminate()
  assert.equal(((await fourth.next()) as Reply).result?.topic, 'tx')
  second.socket.terminate()
  fourth.socket.terminate()
  await slow.stop()
})

test('30 subscriptions resume at once: each gets everything once, never more than two at a time', async () => {
  const addresses = Array.from(
    { length: 30 },
    (_, nth) => `0x${(0x9000 + nth).toString(16).padStart(40, '0')}`,
  )
  await world.publish(addresses.map((address) => ({ type: 'pair' as const, pair: samplePair({ address }) })))
  await world.storeAll()
  const plan = { connections: 10, messages_per_second: 1_000 }
  const resuming = await world.startGateway({ default: { ...TEST_PLANS.default, sockets: plan } })
  const client = await resuming.connect()
  const { result } = await subscribe(client, [...TX, { cursor: true }], 100)
  await client.request(101, 'unsubscribe', TX)
  const sold = { ...sampleTrade().sold, symbol: 'x'.repeat(5_000) }
  const publishTrades = () => {
    const key = { block: traded.nextBlock(), tx: 0, log: 0 }
    return world.publish(
      addresses.map((pair, log) => ({
        type: 'trade' as const,
        trade: sampleTrade({ pair, sold, key: { ...key, log } }),
      })),
    )
  }
  const rounds = 8
  for (let round = 1; round < rounds; round++) await publishTrades()
  await resuming.applied(await publishTrades())
  for (const [id, pair] of addresses.entries()) {
    const params = ['tx', pair, 'eth', { from: result?.cursor, cursor: true }]
    client.send({ jsonrpc: '2.0', id, method: 'subscribe', params })
  }
  await publishTrades()
  const spans = addresses.map(() => ({ seqs: [] as number[], first: Number.POSITIVE_INFINITY, last: 0 }))
  for (let at = 0, left = addresses.length * (rounds + 2); left > 0; at++, left--) {
    const message = (await client.next()) as Reply & { readonly seq?: number }
    const span = spans[message.id]
    assert.ok(span !== undefined && message.error === undefined, JSON.stringify(message.error))
    if (message.seq === undefined) {
      assert.equal(message.result?.recovered, true)
      continue
    }
    span.seqs.push(message.seq)
    // Up to the last one that was there before: the newest may come live.
    if (span.seqs.length > rounds) continue
    span.first = Math.min(span.first, at)
    span.last = at
  }
  const inOrder = Array.from({ length: rounds + 1 }, (_, nth) => nth + 1)
  for (const { seqs } of spans) assert.deepEqual(seqs, inOrder)
  const atOnce = spans.map(
    ({ first }) => spans.filter((each) => each.first <= first && each.last >= first).length,
  )
  assert.ok(Math.max(...atOnce) <= 2, `${atOnce}`)
  await client.close()
  await resuming.stop()
})

test('a key without units is refused; one that runs out gets an error, and keeps its socket', async () => {
  const plan = { ...TEST_PLANS.default, cu_per_month: (await used()) + 120 }
  const poor = await world.startGateway({ default: plan })
  const client = await poor.connect()
  assert.equal((await subscribe(client, [...TX, { from: beginning() }])).result?.recovered, true)
  const exhausted = {
    code: -32006,
    message: 'no credit units left this month; a replay needs some',
    data: { option: 'from', cu: 50 },
  }
  let last: Reply
  let pushes = -1
  do {
    last = (await client.next()) as Reply
    pushes++
  } while (last.error === undefined)
  assert.deepEqual([last.id, last.error], [1, exhausted])
  assert.ok(pushes >= 1_000 && pushes <= 2_000, `${pushes}`)
  assert.deepEqual((await subscribe(client, [...TX, { from: beginning() }], 2)).error, exhausted)
  assert.equal((await subscribe(client, [...TX, { cursor: true }], 3)).error, undefined)
  await client.close()
  await poor.stop()
})

test('auth on an open socket fills no bucket', async () => {
  const client = await gateway.connect()
  const startedAt = Date.now()
  const total = MESSAGES_PER_SECOND * 10
  for (let id = 0; id < total; id += 20) {
    client.send(
      Array.from({ length: 20 }, (_, nth) =>
        nth === 0
          ? { jsonrpc: '2.0', id: id + nth, method: 'auth', params: [API_KEY] }
          : { jsonrpc: '2.0', id: id + nth, method: 'ping' },
      ),
    )
  }
  const batches = (await client.take(total / 20)) as Reply[][]
  const seconds = (Date.now() - startedAt) / 1_000
  const served = batches.flat().filter(({ result }) => result !== undefined).length
  assert.ok(served <= MESSAGES_PER_SECOND * (1 + seconds) + 1, `${served} in ${seconds} s`)
  await client.close()
})
