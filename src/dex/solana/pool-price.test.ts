import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  sqrtPriceAtTick,
} from '../evm/concentrated-liquidity.ts'
import { sqrtX64Price } from './pool-price.ts'

function expectTick(sqrtPriceX64: bigint): void {
  const price = sqrtX64Price(sqrtPriceX64)
  const sqrtPriceX96 = sqrtPriceX64 << 32n
  if (sqrtPriceX96 < MIN_SQRT_PRICE || sqrtPriceX96 >= MAX_SQRT_PRICE) {
    assert.equal(price, undefined)
    return
  }
  assert.ok(price?.kind === 'sqrt')
  const { tick } = price
  assert.ok(sqrtPriceAtTick(tick) <= sqrtPriceX96, `${tick} is too high`)
  assert.ok(tick === MAX_TICK || sqrtPriceAtTick(tick + 1) > sqrtPriceX96, `${tick} is too low`)
}

test('the tick of a price is the highest one that is not above it', () => {
  fc.assert(fc.property(fc.bigInt(0n, 1n << 128n), expectTick))
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 128 }), fc.bigInt(0n, 1n << 64n), (bits, low) =>
      expectTick((1n << BigInt(bits)) + low),
    ),
  )
})

test('at the very borders of ticks too', () => {
  const nearBorder = fc.tuple(fc.integer({ min: MIN_TICK, max: MAX_TICK }), fc.bigInt(-2n, 2n))
  fc.assert(
    fc.property(nearBorder, ([tick, more]) => expectTick((sqrtPriceAtTick(tick) >> 32n) + more)),
    { numRuns: 3_000 },
  )
})
