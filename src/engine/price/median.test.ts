import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Ratio } from '../pool/pool.ts'
import { compareRatios, medianRatio, weightedMedian } from './median.ts'

const at = (price: bigint): Ratio => ({ raw0: 7n, raw1: 7n * price })

describe('the counted price of a block', () => {
  const counted = (...prices: bigint[]) => {
    const ratios = prices.map(at)
    const { raw0, raw1 } = medianRatio(ratios, ratios.at(-1) ?? at(0n))
    return raw1 / raw0
  }

  test('a single trade moves the price', () => {
    assert.equal(counted(100n, 110n), 110n)
    assert.equal(counted(100n, 90n), 90n)
  })

  test('up and down again, or down and up, within the block leaves nothing', () => {
    assert.equal(counted(100n, 900n, 101n), 101n)
    assert.equal(counted(100n, 1n, 99n), 99n)
  })

  test('a sandwich leaves what its victim did', () => {
    assert.equal(counted(100n, 140n, 160n, 120n), 120n)
  })

  test('a leap by the last trade of a busy block does not count yet', () => {
    assert.equal(counted(100n, 101n, 102n, 900n), 102n)
  })

  test('it is one of the prices that were asked, whatever the order before the last', () => {
    const price = fc.bigInt({ min: 1n, max: 50n })
    fc.assert(
      fc.property(fc.array(price, { minLength: 1, maxLength: 9 }), price, (before, last) => {
        const all = [...before, last].map(at)
        const found = medianRatio(all, at(last))
        assert.ok(all.some((ratio) => compareRatios(ratio, found) === 0))
        assert.deepEqual(medianRatio([...before.map(at).reverse(), at(last)], at(last)), found)
        const below = all.filter((ratio) => compareRatios(ratio, found) < 0).length
        const above = all.filter((ratio) => compareRatios(ratio, found) > 0).length
        assert.ok(below <= all.length / 2 && above <= all.length / 2)
      }),
    )
  })
})

describe('the middle of the weight', () => {
  const of = (...all: [price: bigint, weight: bigint][]) =>
    weightedMedian(all.map(([price, weight]) => ({ price, weight })))

  test('of no prices is undefined', () => {
    assert.equal(of(), undefined)
  })

  test('a pool moves it only by outweighing all the others', () => {
    assert.equal(of([100n, 10n], [101n, 10n], [900n, 19n]), 101n)
    assert.equal(of([100n, 10n], [101n, 10n], [900n, 21n]), 900n)
    assert.equal(of([1n, 19n], [100n, 10n], [101n, 10n]), 100n)
  })

  test('does not depend on the order', () => {
    const pool = fc.record({ price: fc.bigInt(1n, 9n), weight: fc.bigInt(1n, 9n) })
    fc.assert(
      fc.property(fc.array(pool, { minLength: 1, maxLength: 8 }), (pools) => {
        assert.equal(weightedMedian(pools.toReversed()), weightedMedian(pools))
      }),
    )
  })
})
