import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  amountsOfLiquidity,
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  sqrtPriceAtTick,
} from './concentrated-liquidity.ts'

describe('the price at a tick', () => {
  test("matches the values in Uniswap's tests", () => {
    for (const [tick, expected] of [
      [MIN_TICK, MIN_SQRT_PRICE],
      [MIN_TICK + 1, 4_295_343_490n],
      [0, 1n << 96n],
      [MAX_TICK - 1, 1_461_373_636_630_004_318_706_518_188_784_493_106_690_254_656_249n],
      [MAX_TICK, MAX_SQRT_PRICE],
    ] as const) {
      assert.equal(sqrtPriceAtTick(tick), expected, `tick ${tick}`)
    }
  })

  test('is the square root of 1.0001^tick, within the error of the contracts', () => {
    const near = fc.integer({ min: -20_000, max: 20_000 })
    fc.assert(
      fc.property(near, (tick) => assertNearRoot(tick)),
      { numRuns: 200 },
    )
    for (const tick of [-300_000, -195_000, -65_536, 65_536, 195_000, 300_000]) assertNearRoot(tick)
  })

  test('rises with every tick', () => {
    fc.assert(
      fc.property(fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 }), (tick) => {
        assert.ok(sqrtPriceAtTick(tick) < sqrtPriceAtTick(tick + 1))
      }),
    )
  })

  test('throws beyond the last tick and for fractions', () => {
    for (const tick of [MIN_TICK - 1, MAX_TICK + 1, 0.5, Number.NaN]) {
      assert.throws(() => sqrtPriceAtTick(tick), RangeError)
    }
  })
})

describe('token amounts of liquidity', () => {
  test('Polygon 0x2277ee48d4e5394a59500a9f70ab29c12b27b28398973e6ca2666143dd690358: equal the transfers', () => {
    const price = 0x13cd969ebef6811c24e4dn
    const amounts = amountsOfLiquidity(0xc2c5b4ad02n, price, -217_553, -237_600, -198_000)
    assert.deepEqual(amounts, { amount0: 0x6229eaa332c7d5n, amount1: 10_000_000n })
  })

  test('are in the first token above the price, in the second below it, in both around it', () => {
    const price = sqrtPriceAtTick(100)
    const liquidity = 10n ** 18n
    const above = amountsOfLiquidity(liquidity, price, 100, 101, 200)
    const below = amountsOfLiquidity(liquidity, price, 100, 0, 100)
    const around = amountsOfLiquidity(liquidity, price, 100, 100, 200)
    assert.ok(above.amount0 > 0n && above.amount1 === 0n)
    assert.ok(below.amount0 === 0n && below.amount1 > 0n)
    // At the lower end of a range, all liquidity is in the first token.
    assert.ok(around.amount0 > above.amount0 && around.amount1 === 0n)
    assert.equal(amountsOfLiquidity(liquidity, price, 100, 0, 200).amount1, below.amount1)
  })

  test('are rounded against the provider, by at most two units between adding and removing', () => {
    const tick = fc.integer({ min: MIN_TICK, max: MAX_TICK })
    const liquidity = fc.bigInt({ min: 1n, max: 2n ** 100n })
    fc.assert(
      fc.property(tick, tick, tick, liquidity, (at, one, other, amount) => {
        fc.pre(one !== other)
        const range = [Math.min(one, other), Math.max(one, other)] as const
        const price = sqrtPriceAtTick(at)
        const added = amountsOfLiquidity(amount, price, at, ...range)
        const removed = amountsOfLiquidity(-amount, price, at, ...range)
        for (const [paid, got] of [
          [added.amount0, -removed.amount0],
          [added.amount1, -removed.amount1],
        ] as const) {
          assert.ok(got >= 0n && paid >= got && paid - got <= 2n, `${paid} paid, ${got} got back`)
        }
      }),
    )
  })
})

/** Compares with the exact power. */
function assertNearRoot(tick: number): void {
  const steps = BigInt(Math.abs(tick))
  const [up, down] = tick < 0 ? [10_000n, 10_001n] : [10_001n, 10_000n]
  const exact = squareRoot(((up ** steps) << 192n) / down ** steps)
  const computed = sqrtPriceAtTick(tick)
  const off = computed > exact ? computed - exact : exact - computed
  assert.ok(off <= 2n + (exact >> 90n), `tick ${tick} is off by ${off} of ${exact}`)
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
