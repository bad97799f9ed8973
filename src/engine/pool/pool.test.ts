import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { normaliseAddress } from '../../domain/ids.ts'
import { type Pool, pairId, placeOf } from './pool.ts'

const POOL = `0x${'ab'.repeat(20)}`
const tokens = Array.from({ length: 8 }, (_, index) => `0x${index.toString().repeat(40)}`)

function poolOf(count: number, address = POOL): Pool {
  const pricing = { kind: 'trades' } as const
  return {
    address,
    factory: '0xf1',
    tokens: tokens.slice(0, count),
    pricing,
    goalRaw: undefined,
  }
}

describe('the pair id of two tokens of a pool', () => {
  test('a pool of two tokens is its pair, be it a contract or a 32-byte id', () => {
    const id = `0x${'cd'.repeat(32)}`
    assert.equal(pairId(poolOf(2), 0, 1), POOL)
    assert.equal(pairId(poolOf(2, id), 0, 1), id)
  })

  test('in a pool of more, the places of both follow the address', () => {
    assert.equal(pairId(poolOf(4), 1, 3), `${POOL}${'0'.repeat(20)}0103`)
  })

  test('no two pairs are called the same, and all are well-formed', () => {
    const pool = poolOf(8)
    const ids = new Set<string>()
    for (let lower = 0; lower < 8; lower++) {
      for (let higher = lower + 1; higher < 8; higher++) ids.add(pairId(pool, lower, higher))
    }
    assert.equal(ids.size, 28)
    for (const id of ids) assert.equal(normaliseAddress('evm', 'pair', id), id)
  })
})

test('a token is found by its place or its address', () => {
  const pool = poolOf(3)
  assert.equal(placeOf(pool, 2), 2)
  assert.equal(placeOf(pool, tokens[1] ?? ''), 1)
  for (const stranger of [3, -1, tokens[5] ?? '']) assert.equal(placeOf(pool, stranger), undefined)
})
