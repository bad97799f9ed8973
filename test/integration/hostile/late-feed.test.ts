import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ChangeSet } from '../../../src/domain/change.ts'
import {
  MEME,
  MEME_WETH,
  price,
  sampleCandle,
  samplePair,
  sampleToken,
  sampleTrade,
  sampleWindows,
  value,
} from '../../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../../support/rigs/gateway-world.ts'
import { StallingProxy } from '../../support/rigs/stalling-proxy.ts'

/** A gateway whose NATS hangs, while the writer's goes on: what it answers is true at the block that it states. */

const REQUESTS: readonly (readonly [path: string, body?: object])[] = [
  [`/v2/pairs/${MEME_WETH}-eth`],
  [`/v2/tokens/${MEME}-eth`],
  ['/v2/tokens/price', { token_ids: [`${MEME}-eth`], tvl_min: 0 }],
  ['/v2/tokens/search', { token_ids: [`${MEME}-eth`] }],
  [`/v2/klines/pair/${MEME_WETH}-eth?interval=k1&limit=5&fill=false`],
  [`/v2/txs/${MEME_WETH}-eth?limit=20`],
]

let world: GatewayWorld
let proxy: StallingProxy
let cutOff: Gateway
let whole: Gateway
let first: ChangeSet
/** By block and path. */
const truth = new Map<string, unknown>()

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  proxy = await StallingProxy.start(world.stack.natsUrls[0] as string)
  first = await publish(1)
  await world.storeAll()
  cutOff = await world.startGateway({}, {}, [`nats://127.0.0.1:${proxy.port}`])
  whole = await world.startGateway()
})

after(async () => {
  proxy?.resume()
  await cutOff?.stop()
  await whole?.stop()
  await proxy?.stop()
  await world?.stop()
})

/** Every number of every request is another one in each block. */
function publish(block: number): Promise<ChangeSet> {
  const priceUsd = price(String(block))
  const usd = { open: priceUsd, high: priceUsd, low: priceUsd, close: priceUsd, volume: undefined }
  const key = { block: 100 + block, tx: 0, log: 0 }
  return world.publish([
    { type: 'pair', pair: samplePair({ updatedAt: block, tvlUsd: value(String(block)) }) },
    { type: 'token', token: sampleToken({ updatedAt: block, priceUsd }) },
    { type: 'windows', windows: sampleWindows() },
    { type: 'candle', candle: sampleCandle({ tradeCount: block, usd }) },
    { type: 'trade', trade: sampleTrade({ key, time: 1_700_000_000 + block }) },
  ])
}

async function ask(gateway: Gateway, [path, body]: (typeof REQUESTS)[number]) {
  const answer = await (body === undefined ? gateway.get(path) : gateway.post(path, body))
  assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`)
  return { block: Number(answer.headers['x-block']), body: answer.body }
}

async function learn(set: ChangeSet): Promise<void> {
  await whole.applied(set)
  for (const request of REQUESTS) {
    const { block, body } = await ask(whole, request)
    assert.equal(block, set.head.number)
    truth.set(`${block} ${request[0]}`, body)
  }
}

/** The blocks that the cut off gateway states. */
async function judge(): Promise<number[]> {
  const blocks: number[] = []
  for (const request of REQUESTS) {
    const { block, body } = await ask(cutOff, request)
    assert.deepEqual(body, truth.get(`${block} ${request[0]}`), `${request[0]} at ${block}`)
    blocks.push(block)
  }
  return blocks
}

test('numbers of later blocks are stated as of the commit point of their store', async () => {
  const client = await cutOff.connect()
  await client.request(1, 'subscribe', ['tx', MEME_WETH, 'eth'])
  await learn(first)
  assert.deepEqual(new Set(await judge()), new Set([101]))
  proxy.stall()
  for (let block = 2; block <= 4; block++) {
    const set = await publish(block)
    await world.storeAll()
    await learn(set)
    // Right after the writer has stored the block, and once the gateway must know of it.
    await judge()
    assert.deepEqual(new Set(await judge()), new Set([100 + block]))
  }
  // Nothing is read that would show the gateway that it is late: it looks by itself.
  const last = await publish(5)
  await world.storeAll()
  await learn(last)
  await waitUntil(
    'the gateway notices',
    async () => (await cutOff.get('/v2/chains')).headers['x-block'] === '105',
  )

  proxy.resume()
  const pushed = []
  for (const block of [2, 3, 4, 5]) pushed.push({ block, push: await client.next() })
  for (const { block, push } of pushed) {
    const { result } = push as { result: { tx: { block_number: number } } }
    assert.equal(result.tx.block_number, 100 + block)
  }
  await client.close()
  const next = await publish(6)
  await cutOff.applied(next)
  await learn(next)
  assert.deepEqual(new Set(await judge()), new Set([106]))
})
