import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rawPrice } from './pool-price.ts'

const SQRT_PRICE = { kind: 'sqrtPrice' } as const
const BINS = { kind: 'bins', binStep: 15 } as const

describe('price of the first token in the second', () => {
  test('of a square root price is its exact square', () => {
    const half = { kind: 'sqrt', sqrtPriceX96: 1n << 95n, tick: -13_864 } as const
    assert.deepEqual(rawPrice(half, SQRT_PRICE), { numerator: 1n << 190n, denominator: 1n << 192n })
  })

  test('Ethereum 0xc06dfd41c1b55847a92ea60db05a1f800599fa4d5d48b9a0213e5e598fe7e5f4: is close to the price paid', () => {
    const price = { kind: 'sqrt', sqrtPriceX96: 0x2ca89434c4edce5ef543cn, tick: -201_289 } as const
    // ETH out, USDC in, with a fee of 500 millionths.
    assertNear(rawPrice(price, SQRT_PRICE), 0x171b6en, 0x2f6ed9e1b55b0n)
  })

  test('Arbitrum 0x1756eca9ad24e025cec0f9963c93a7a98f85d8603cd4b16bd0accdf3c20d3ff8: is close to the price paid', () => {
    // WETH out, USDT in, with a fee of 1500 millionths.
    assertNear(rawPrice({ kind: 'bin', id: 8_375_111 }, BINS), 0x7c69131n, 0x11aac981ef1a7e9n)
  })

  test("is unknown if the price is invalid or of another kind than the pool's", () => {
    const root = { kind: 'sqrt', sqrtPriceX96: 1n << 96n, tick: 0 } as const
    const bin = { kind: 'bin', id: 2 ** 23 } as const
    for (const pricing of [{ kind: 'reserves' }, { kind: 'trades' }] as const) {
      assert.equal(rawPrice(root, pricing), undefined)
      assert.equal(rawPrice(bin, pricing), undefined)
    }
    assert.equal(rawPrice(root, BINS), undefined)
    assert.equal(rawPrice(bin, SQRT_PRICE), undefined)
    assert.equal(rawPrice({ kind: 'sqrt', sqrtPriceX96: 0n, tick: 0 }, SQRT_PRICE), undefined)
    assert.equal(rawPrice({ kind: 'bin', id: 0 }, BINS), undefined)
  })
})

/** Within two thousandths. */
function assertNear(price: ReturnType<typeof rawPrice>, paid: bigint, got: bigint): void {
  assert.ok(price !== undefined)
  const [one, other] = [price.numerator * got, paid * price.denominator]
  assert.ok((one > other ? one - other : other - one) * 500n < other)
}
