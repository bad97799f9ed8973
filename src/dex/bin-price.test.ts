import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { binPrice, type Ratio } from './bin-price.ts'
import { sqrtPriceAtTick } from './evm/concentrated-liquidity.ts'

const MIDDLE = 2 ** 23

describe('the price of a bin', () => {
  test('is one for the middle bin, and one step more or less beside it', () => {
    assert.ok(isNear(found(MIDDLE, 25), { numerator: 1n, denominator: 1n }))
    assert.ok(isNear(found(MIDDLE + 1, 25), { numerator: 10_025n, denominator: 10_000n }))
    assert.ok(isNear(found(MIDDLE - 1, 25), { numerator: 10_000n, denominator: 10_025n }))
  })

  test('is within one part in 2^230 of the exact power', () => {
    const steps = fc.integer({ min: -3_000, max: 3_000 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 250 }), (far, binStep) => {
        assert.ok(isNear(found(MIDDLE + far, binStep), power(far, binStep)))
      }),
    )
    for (const far of [-150_000, 150_000]) assert.ok(isNear(found(MIDDLE + far, 1), power(far, 1)))
  })

  test('for the smallest step equals that of a tick, over the whole range', () => {
    for (const tick of [-887_000, -500_000, -123_456, 123_456, 500_000, 887_000]) {
      const { numerator, denominator } = found(MIDDLE + tick, 1)
      const root = sqrtPriceAtTick(tick)
      const [one, other] = [(numerator << 192n) / denominator, root * root]
      const off = one > other ? one - other : other - one
      // The contracts store low prices with few significant bits.
      assert.ok(off <= (other >> 60n) + 4n * root, `tick ${tick}`)
    }
  })

  test('at equal distances on both sides is reciprocal', () => {
    const up = found(MIDDLE + 4_321, 15)
    const down = found(MIDDLE - 4_321, 15)
    assert.deepEqual(down, { numerator: up.denominator, denominator: up.numerator })
  })

  test('has at most 256 bits, and is undefined outside the range of the contracts', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 24 }),
        fc.integer({ min: 1, max: 0xffff }),
        (id, binStep) => {
          const price = binPrice(id, binStep)
          if (price === undefined) return
          assert.ok(price.numerator >> 256n === 0n && price.denominator >> 256n === 0n)
          assert.ok(
            price.numerator >> 128n < price.denominator && price.denominator >> 128n < price.numerator,
          )
        },
      ),
    )
    for (const id of [0, MIDDLE - 2 ** 20, MIDDLE + 2 ** 20, 2 ** 24 - 1, 1.5, Number.NaN]) {
      assert.equal(binPrice(id, 1), undefined)
    }
    // 1.0001^887273 is above 2^128.
    assert.ok(binPrice(MIDDLE + 887_272, 1) !== undefined)
    assert.equal(binPrice(MIDDLE + 887_273, 1), undefined)
    assert.equal(binPrice(MIDDLE - 887_273, 1), undefined)
    for (const binStep of [0, -1, 0x10000, 0.5, Number.NaN])
      assert.equal(binPrice(MIDDLE, binStep), undefined)
  })
})

function found(id: number, binStep: number): Ratio {
  const price = binPrice(id, binStep)
  assert.ok(price !== undefined, `bin ${id} of step ${binStep}`)
  return price
}

function power(steps: number, binStep: number): Ratio {
  const up = (10_000n + BigInt(binStep)) ** BigInt(Math.abs(steps))
  const down = 10_000n ** BigInt(Math.abs(steps))
  return steps < 0 ? { numerator: down, denominator: up } : { numerator: up, denominator: down }
}

function isNear(one: Ratio, other: Ratio): boolean {
  const [a, b] = [one.numerator * other.denominator, other.numerator * one.denominator]
  return (a > b ? a - b : b - a) < b >> 230n
}
