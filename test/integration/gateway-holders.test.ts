import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change, Token } from '../../src/domain/change.ts'
import { price, sampleToken } from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

/** Five seconds, and one in which the gateway sees that all is written. */
const TOLERATED_MS = 6_500
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
  await store([tokenOf({ priceUsd: price('3'), holding: holdingOf(3) }), balanceOf(3, 400n)])
  await newHolder({ index: 3, rank: 1, count: 3 })
  await store([tokenOf({ priceUsd: price('3'), holding: holdingOf(4) }), balanceOf(4, 450n)])
  await newHolder({ index: 4, rank: 1, count: 4 })
})

const holdingOf = (holders: number): Token['holding'] => ({
  ...{ holders, burnedRaw: 0n, lockedRaw: 0n, circulatingRaw: 10n ** 24n },
})

/** A list with fewer holders than the token has is never called complete. */
async function newHolder({
  index,
  rank,
  count,
}: {
  index: number
  rank: number
  count: number
}): Promise<void> {
  const start = performance.now()
  for (;;) {
    const { rows, isComplete } = await top()
    assert.equal(rows[0]?.balance_usd, 1500)
    assert.equal(isComplete, String(rows.length === count))
    if (rows[rank]?.holder === holderOf(index)) return
    assert.ok(performance.now() - start < TOLERATED_MS, 'a new holder is not returned')
    await sleep(50)
  }
}

test('a list read before all balances were known is read anew once they are', async () => {
  const address = `0x${'b2'.repeat(20)}`
  const token = (holding: Token['holding']): Change => ({
    type: 'token',
    token: sampleToken({ address, decimals: 18, supplyRaw: 10n ** 24n, holding }),
  })
  const ask = () => gateway.get(`/v2/tokens/top100/${address}-eth`)
  await store([token(undefined)])
  assert.deepEqual((await ask()).body, [])
  const balance = { token: address, holder: holderOf(1), amountRaw: 10n ** 18n, beforeRaw: 0n }
  await store([token(holdingOf(1)), { type: 'balance', balance }])
  // As soon as the gateway sees that all is written, not only when the list is too old.
  await waitFor('the list to be complete', async () => {
    const { body, headers } = await ask()
    assert.equal(headers['x-holders-complete'], String((body as object[]).length === 1))
    return (body as object[]).length === 1 ? true : undefined
  })
})

test('a request for the holders of a removed token is refused, even if they were just cached', async () => {
  await top()
  await store([{ type: 'tokenRemoved', token: TOKEN }])
  const { status } = await gateway.get(`/v2/tokens/top100/${TOKEN}-eth`)
  assert.equal(status, 400)
})
