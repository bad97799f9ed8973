import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Change } from '../../src/domain/change.ts'
import { samplePair, sampleToken, sampleTrade } from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'
import { base58Of } from '../support/rigs/solana-ledger.ts'

const [PAIR, TOKEN, WALLET] = [base58Of('pair'), base58Of('token'), base58Of('wallet')]
const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'
const ID = `${PAIR}-solana`

let world: GatewayWorld
let gateway: Gateway

before(async () => {
  world = await GatewayWorld.start({ withHistory: true, withSolana: true })
  const { token0 } = samplePair()
  const pair = samplePair({ address: PAIR, token0: { ...token0, token: TOKEN }, targetToken: TOKEN })
  await world.publish(
    [
      { type: 'pair', pair },
      { type: 'token', token: sampleToken({ address: TOKEN, mainPair: PAIR }) },
      trade(1),
    ],
    { chain: 'solana' },
  )
  await world.storeAll('solana')
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

function trade(tx: number): Change {
  const ids = { pair: PAIR, transaction: SIGNATURE, sender: WALLET, recipient: WALLET, wallet: WALLET }
  const sample = sampleTrade()
  const key = { ...sample.key, tx }
  return { type: 'trade', trade: { ...sample, ...ids, key, targetToken: TOKEN } }
}

/** Another id to anyone who compares letters exactly. */
function otherCase(id: string): string {
  const swapped = [...id].map((letter) => {
    const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()]
    const other = letter === lower ? upper : lower
    return 'IOl0'.includes(other) ? letter : other
  })
  return swapped.join('')
}

test('REST finds a pair and a token by ids of mixed case, and by no other case', async () => {
  for (const [path, id] of [
    ['/v2/pairs', PAIR],
    ['/v2/tokens', TOKEN],
  ] as const) {
    const found = await gateway.get(`${path}/${id}-solana`)
    assert.equal(found.status, 200, path)
    assert.ok(JSON.stringify(found.body).includes(id), path)
    const unknown = await gateway.get(`${path}/${base58Of('unknown')}-solana`)
    assert.notEqual(unknown.status, 200)
    assert.equal((await gateway.get(`${path}/${otherCase(id)}-solana`)).status, unknown.status, path)
  }
})

test('a search by address is exact', async () => {
  const found = JSON.stringify((await gateway.get(`/v2/tokens?keyword=${TOKEN}`)).body)
  assert.ok(found.includes(TOKEN))
  assert.deepEqual((await gateway.get(`/v2/tokens?keyword=${otherCase(TOKEN)}`)).body, [])
})

test('a search by symbol returns the id of mixed case', async () => {
  const found = JSON.stringify((await gateway.get('/v2/tokens?keyword=meme')).body)
  assert.ok(found.includes(TOKEN))
})

test('the chart interface keeps the case of a symbol', async () => {
  for (const path of [`/udf/symbols?symbol=${ID}`, `/udf/search?query=${ID}&limit=5`]) {
    const { status, body } = await gateway.get(path)
    assert.equal(status, 200, path)
    assert.ok(JSON.stringify(body).includes(ID), path)
  }
})

test('a subscription gets the swaps of its pair with signature and wallet, and resumes by cursor', async () => {
  const client = await gateway.connect()
  const ack = (await client.request(1, 'subscribe', ['tx', PAIR, 'solana', { cursor: true }])) as {
    result: { cursor: string }
  }
  assert.ok(ack.result.cursor !== undefined, JSON.stringify(ack))
  await world.publish([trade(2)], { chain: 'solana' })
  const push = JSON.stringify(await client.next())
  for (const id of [PAIR, SIGNATURE, WALLET]) assert.ok(push.includes(id), push)
  await client.close()
  const again = await gateway.connect()
  const resumed = await again.request(1, 'subscribe', ['tx', PAIR, 'solana', { from: ack.result.cursor }])
  assert.match(JSON.stringify(resumed), /"recovered":true/)
  assert.ok(JSON.stringify(await again.next()).includes(SIGNATURE))
  await again.close()
})
