import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pricing } from '../../domain/envelope.ts'
import { NONE } from '../../state/slot-index.ts'
import { newPair } from '../first-records.ts'
import type { Pool, Priced } from './pool.ts'
import { ratioOf } from './ratio.ts'

const PRICES = {
  reported: () => ({ kind: 'sqrt', sqrtPriceX96: 3n << 96n, tick: 21_973 }) as const,
  lastExchange: () => undefined,
}

function ratioWith(
  reserves: readonly bigint[] | undefined,
  pricing: Pricing = { kind: 'sqrtPrice' },
  isCurve = false,
) {
  const pool: Pool & Priced = {
    address: '0xaa',
    factory: '0xf1',
    tokens: ['0x01', '0x02'],
    pricing,
    goalRaw: undefined,
    askedSlot: NONE,
  }
  const pair = newPair({
    address: '0xaa',
    amm: 'any',
    tokens: ['0x01', '0x02'],
    reserves,
    targetToken: undefined,
    tokenOf: () => undefined,
    time: 1,
  })
  return ratioOf(pool, { ...pair, askedSlot: NONE }, PRICES, isCurve)
}

test('a pool that reports its price has it, whether its reserves are known or not', () => {
  const nine = { raw0: 1n << 192n, raw1: 9n << 192n }
  for (const reserves of [[7n, 1n], [0n, 1n], [1n, 0n], undefined])
    assert.deepEqual(ratioWith(reserves), nine)
})

test('the price of an empty pool means nothing', () => {
  assert.equal(ratioWith([0n, 0n]), undefined)
})

test('a bonding curve keeps its price when its funds have left', () => {
  assert.deepEqual(ratioWith([0n, 0n], { kind: 'sqrtPrice' }, true), { raw0: 1n << 192n, raw1: 9n << 192n })
})

test('elsewhere the price is the ratio of what the pool holds', () => {
  const pricing = { kind: 'reserves' } as const
  assert.deepEqual(ratioWith([7n, 2n], pricing), { raw0: 7n, raw1: 2n })
  assert.equal(ratioWith(undefined, pricing), undefined)
})
