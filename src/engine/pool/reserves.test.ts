import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PoolEvent, PoolPrice, Swapped } from '../../dex/events.ts'
import type { ReservesBy } from '../../dex/protocol.ts'
import type { Pair } from '../../domain/change.ts'
import { NONE } from '../../state/slot-index.ts'
import { newPair } from '../first-records.ts'
import type { Pool, Priced } from './pool.ts'
import { reservesAfter } from './reserves.ts'

const POOL = '0xaa'
const ONE_TO_ONE: PoolPrice = { kind: 'sqrt', sqrtPriceX96: 1n << 96n, tick: 0 }

const PRICES = { reported: () => ONE_TO_ONE }

const pool: Pool & Priced = {
  address: POOL,
  factory: '0xf1',
  tokens: ['0x01', '0x02'],
  pricing: { kind: 'sqrtPrice' },
  goalRaw: undefined,
  askedSlot: NONE,
}

function pairHolding(...reserves: bigint[]): Pair {
  return newPair({
    address: POOL,
    amm: 'any',
    tokens: ['0x01', '0x02'],
    reserves: reserves.length === 0 ? undefined : reserves,
    targetToken: undefined,
    tokenOf: () => undefined,
    time: 1,
  })
}

const swapped: Swapped = {
  type: 'swapped',
  pool: POOL,
  sender: undefined,
  recipient: undefined,
  token0: 0,
  token1: 1,
  delta0: 1_001n,
  delta1: -900n,
  price: ONE_TO_ONE,
}
const amounts = [
  { token: 0, amount: 10n },
  { token: '0x02', amount: 20n },
] as const

const after = (event: PoolEvent, known: ReservesBy = 'counted', pair = pairHolding(5_000n, 6_000n)) =>
  reservesAfter(pool, pair, event, known, PRICES)

describe('counted from what goes in and out', () => {
  test('a swap', () => {
    assert.deepEqual(after(swapped), [6_001n, 5_100n])
  })

  test('the protocol fee of a swap leaves the reserves at once', () => {
    assert.deepEqual(after({ ...swapped, feePpm: 3_000, protocolFeePpm: 1_000 }), [5_999n, 5_100n])
  })

  test('liquidity and fees, by place or by address', () => {
    const base = { pool: POOL, provider: undefined, amounts }
    assert.deepEqual(after({ type: 'liquidityAdded', ...base }), [5_010n, 6_020n])
    assert.deepEqual(after({ type: 'donated', ...base }), [5_010n, 6_020n])
    assert.deepEqual(after({ type: 'feesCollected', ...base }), [4_990n, 5_980n])
    assert.deepEqual(after({ type: 'liquidityRemoved', isPaidOut: true, ...base }), [4_990n, 5_980n])
    assert.deepEqual(
      after({ type: 'liquidityRemoved', isPaidOut: false, ...base }),
      [5_000n, 6_000n],
      'what is only owed is still there',
    )
  })

  test('liquidity of a price range follows from the price', () => {
    const moved = {
      type: 'liquidityMoved',
      pool: POOL,
      provider: undefined,
      tickLower: -60,
      tickUpper: 60,
    } as const
    const [added0 = 0n, added1 = 0n] = after({ ...moved, liquidityDelta: 1_000_000n })
    assert.ok(added0 > 7_900n && added0 < 8_100n && added1 > 8_900n && added1 < 9_100n)
    const full = pairHolding(added0, added1)
    const [left0 = 0n, left1 = 0n] = after({ ...moved, liquidityDelta: -1_000_000n }, 'counted', full)
    assert.ok(left0 - 5_000n <= 1n && left1 - 6_000n <= 1n, 'but for rounding in favour of the pool')
    const unpriced = { reported: () => undefined }
    const unknown = reservesAfter(pool, full, { ...moved, liquidityDelta: 1n }, 'counted', unpriced)
    assert.deepEqual(unknown, [undefined, undefined])
  })

  test('without a beginning there is no sum', () => {
    assert.deepEqual(after(swapped, 'counted', pairHolding()), [undefined, undefined])
  })

  test('reserves become unknown if more leaves than there was', () => {
    assert.deepEqual(after({ ...swapped, delta1: -6_001n }), [6_001n, undefined])
  })
})

describe('counted without fees', () => {
  test('the fee of a swap, rounded up, is not part of the reserves', () => {
    assert.deepEqual(after({ ...swapped, feePpm: 3_000 }, 'counted_without_fees'), [5_997n, 5_100n])
  })

  test('a gift goes to the owners too', () => {
    assert.deepEqual(after({ type: 'donated', pool: POOL, amounts }, 'counted_without_fees'), [
      5_000n,
      6_000n,
    ])
  })
})

test('reported: only reservesSet changes reserves', () => {
  assert.deepEqual(after(swapped, 'reported'), [5_000n, 6_000n])
  const set = { type: 'reservesSet', pool: POOL, reserve0: 1n, reserve1: 2n } as const
  assert.deepEqual(after(set, 'reported'), [1n, 2n])
})

test('unknown stays unknown, and so does what a pool of more tokens holds', () => {
  assert.deepEqual(after(swapped, 'unknown'), [undefined, undefined])
  const three = { ...pool, tokens: ['0x01', '0x02', '0x03'] }
  const ofThree = reservesAfter(three, pairHolding(1n, 1n), swapped, 'counted', PRICES)
  assert.deepEqual(ofThree, [undefined, undefined])
})
