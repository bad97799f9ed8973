import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change, Token } from '../../src/domain/change.ts'
import { price, sampleToken } from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'

/** Five seconds, and one in which the gateway sees that all is written. */
const TOLD_MS = 6_500
const TOKEN = `0x${'a1'.repeat(20)}`

let world: GatewayWorld
let gateway: Gateway

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  await world.publish([
    tokenOf({ priceUsd: price('2'), holding: undefined }),
    balanceOf(1, 500n),
    balanceOf(2, 300n),
  ])
  await world.storeAll()
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

const holderOf = (index: number): string => `0x${String(index).repeat(40)}`

const balanceOf = (index: number, amount: bigint): Change => ({
  type: 'balance',
  balance: { token: TOKEN, holder: holderOf(index), amountRaw: amount * 10n ** 18n, beforeRaw: 0n },
})

const tokenOf = (changes: Partial<Token>): Change => ({
  type: 'token',
  token: sampleToken({ address: TOKEN, decimals: 18, supplyRaw: 10n ** 24n, ...changes }),
})

async function store(changes: readonly Change[]): Promise<void> {
  const set = await world.publish(changes)
  await world.storeAll()
  await gateway.applied(set)
}

type Row = { readonly holder: string; readonly amount_cur: number; readonly balance_usd: number }

async function top(limit = 100): Promise<{ rows: Row[]; isComplete: string | undefined }> {
  const { status, headers, body } = await gateway.get(`/v2/tokens/top100/${TOKEN}-eth?limit=${limit}`)
  assert.equal(status, 200, JSON.stringify(body))
  return { rows: body as Row[], isComplete: headers['x-holders-complete'] as string | undefined }
}

test('repeated requests see the token at once, and a new holder within five seconds', async () => {
  await store([tokenOf({ priceUsd: price('2'), holding: undefined }), balanceOf(1, 500n), balanceOf(2, 300n)])
  const first = await top()
  assert.deepEqual(
    first.rows.map(({ holder, amount_cur, balance_usd }) => [holder, amount_cur, balance_usd]),
    [
      [holderOf(1), 500, 1000],
      [holderOf(2), 300, 600],
    ],
  )
  assert.equal(first.isComplete, 'false')
  assert.deepEqual((await top(1)).rows, first.rows.slice(0, 1))
  const holding = { holders: 3, burnedRaw: 0n, lockedRaw: 0n, circulatingRaw: 10n ** 24n }
  await store([tokenOf({ priceUsd: price('3'), holding }), balanceOf(3, 400n)])
  const start = performance.now()
  for (;;) {
    const { rows, isComplete } = await top()
    assert.equal(rows[0]?.balance_usd, 1500)
    assert.equal(isComplete, 'true')
    if (rows[1]?.holder === holderOf(3)) break
    assert.ok(performance.now() - start < TOLD_MS, 'a new holder is not told')
    await sleep(50)
  }
})

test('a token that is gone has no holders, however lately they were asked for', async () => {
  await top()
  await store([{ type: 'tokenRemoved', token: TOKEN }])
  const { status } = await gateway.get(`/v2/tokens/top100/${TOKEN}-eth`)
  assert.equal(status, 400)
})
