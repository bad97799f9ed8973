import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decimals, MAX_UINT256, text, uint256 } from '../../test/support/arbitraries/value-arbitraries.ts'
import {
  convertPrice,
  formatAmount,
  formatFixed,
  formatPrice,
  formatValue,
  invertPrice,
  MAX_PRICED_DECIMALS,
  ONE_PRICE,
  PRICE_DIGITS,
  parseFixed,
  pow10,
  priceOf,
  VALUE_DIGITS,
  valueOfAmount,
} from './money.ts'

const PLAIN = /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/
/** Capacity of a price column in the history store. */
const LIMIT = 10n ** 76n

const pricedDecimals = fc.nat(MAX_PRICED_DECIMALS)
const signed = fc.tuple(uint256, fc.boolean()).map(([value, negative]) => (negative ? -value : value))
const price = fc.oneof(
  fc.bigInt({ min: 1n, max: LIMIT - 1n }),
  fc.bigInt({ min: 1n, max: ONE_PRICE * 1_000n }),
  fc.constantFrom(1n, ONE_PRICE, LIMIT - 1n),
)

/** Reference: long division, digit by digit, with the remainder dropped. */
function longDivision(numerator: bigint, divisor: bigint, digits: number): string {
  let written = `${numerator / divisor}.`
  let rest = numerator % divisor
  for (let digit = 0; digit < digits; digit++) {
    rest *= 10n
    written += `${rest / divisor}`
    rest %= divisor
  }
  return written.replace(/\.?0*$/, '')
}

/** Zero prices and prices that no column can hold are unknown. */
function storable(written: string): string | undefined {
  return written === '0' || (written.split('.')[0] as string).length > 76 - PRICE_DIGITS ? undefined : written
}

test('an amount survives formatting and parsing exactly, at any decimals', () => {
  fc.assert(
    fc.property(signed, decimals, (amount, digits) => {
      assert.equal(parseFixed(formatFixed(amount, digits), digits), amount)
    }),
    { numRuns: 1_000 },
  )
  for (let digits = 0; digits <= 255; digits++) {
    for (const amount of [0n, 1n, -1n, MAX_UINT256]) {
      assert.equal(parseFixed(formatAmount(amount, digits), digits), amount)
    }
  }
})

test('a formatted number has no exponent, no trailing zeros and no bare point', () => {
  fc.assert(
    fc.property(signed, decimals, (amount, digits) => {
      const written = formatFixed(amount, digits)
      assert.match(written, PLAIN)
      assert.notEqual(written, '-0')
      assert.equal(written.startsWith('-'), amount < 0n)
    }),
    { numRuns: 1_000 },
  )
  assert.deepEqual(
    [
      formatFixed(0n, 18),
      formatFixed(1n, 18),
      formatFixed(-1n, 3),
      formatFixed(1_500n, 3),
      formatFixed(1_000n, 3),
      formatFixed(1_000n, 0),
      formatPrice(ONE_PRICE / 4n),
      formatValue(10n ** 30n),
      formatAmount(MAX_UINT256, 255),
    ],
    [
      '0',
      '0.000000000000000001',
      '-0.001',
      '1.5',
      '1',
      '1000',
      '0.25',
      '1000000000000',
      `0.${String(MAX_UINT256).padStart(255, '0')}`,
    ],
  )
})

test('a number is parsed exactly or refused', () => {
  assert.deepEqual(
    ['0', '1', '1.50', '-1.5', '-0', '0.001', '00.1'].map((written) => parseFixed(written, 3)),
    [0n, 1_000n, 1_500n, -1_500n, 0n, 1n, 100n],
  )
  for (const written of [
    '',
    '.',
    '1.',
    '.1',
    '+1',
    '1e3',
    '1,5',
    ' 1',
    '1 ',
    '1\n',
    '0x1',
    '--1',
    '1.0001',
    '1.0000',
    'NaN',
    'Infinity',
    '١',
  ]) {
    assert.equal(parseFixed(written, 3), undefined, JSON.stringify(written))
  }
  fc.assert(
    fc.property(text, fc.nat(40), (written, digits) => {
      const parsed = parseFixed(written, digits)
      if (parsed !== undefined) assert.match(formatFixed(parsed, digits), PLAIN)
    }),
  )
})

test('prices and values are exact quotients, truncated after the last digit', () => {
  fc.assert(
    fc.property(
      uint256,
      pricedDecimals,
      uint256,
      pricedDecimals,
      (base, baseDecimals, quote, quoteDecimals) => {
        const computed = priceOf(base, baseDecimals, quote, quoteDecimals)
        if (base === 0n || quote === 0n) return assert.equal(computed, undefined)
        const exact = longDivision(
          quote * 10n ** BigInt(baseDecimals),
          base * 10n ** BigInt(quoteDecimals),
          PRICE_DIGITS,
        )
        return assert.equal(computed && formatPrice(computed), storable(exact))
      },
    ),
    { numRuns: 500 },
  )
  fc.assert(
    fc.property(price, price, (quoted, coin) => {
      const converted = convertPrice(quoted, coin)
      const exact = longDivision(quoted * coin, ONE_PRICE * ONE_PRICE, PRICE_DIGITS)
      assert.equal(converted && formatPrice(converted), storable(exact))
    }),
  )
  fc.assert(
    fc.property(price, (quoted) => {
      const inverted = invertPrice(quoted)
      assert.equal(inverted && formatPrice(inverted), storable(longDivision(ONE_PRICE, quoted, PRICE_DIGITS)))
    }),
  )
  fc.assert(
    fc.property(uint256, pricedDecimals, price, (amount, digits, quoted) => {
      const value = valueOfAmount(amount, digits, quoted)
      const exact = longDivision(amount * quoted, 10n ** BigInt(digits + PRICE_DIGITS), VALUE_DIGITS)
      if (value !== undefined) assert.equal(formatValue(value), exact)
      else assert.ok((exact.split('.')[0] as string).length > 76 - VALUE_DIGITS)
    }),
    { numRuns: 500 },
  )
})

test('no amounts and no claimed decimals cause an overflow or an error', () => {
  const amounts = [0n, 1n, 2n ** 112n - 1n, MAX_UINT256]
  for (let own = 0; own <= 255; own++) {
    for (const a of amounts) {
      for (const b of amounts) {
        for (const other of [0, own, 255 - own]) {
          const found = priceOf(a, own, b, other)
          if (own > MAX_PRICED_DECIMALS || other > MAX_PRICED_DECIMALS) assert.equal(found, undefined)
          if (found !== undefined) assert.ok(found > 0n && found < LIMIT)
        }
        const value = valueOfAmount(a, own, b)
        if (own > MAX_PRICED_DECIMALS) assert.equal(value, undefined)
        if (value !== undefined) assert.ok(value >= 0n && value < LIMIT)
      }
    }
  }
})

test('tokens with implausible decimals have no price', () => {
  assert.equal(MAX_PRICED_DECIMALS, 36)
  assert.equal(priceOf(1n, 36, 1n, 36), ONE_PRICE)
  for (const wrong of [-1, 0.5, MAX_PRICED_DECIMALS + 1, 256, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.equal(priceOf(1n, wrong, 1n, 0), undefined)
    assert.equal(priceOf(1n, 0, 1n, wrong), undefined)
    assert.equal(valueOfAmount(1n, wrong, ONE_PRICE), undefined)
  }
})

test('unknown inputs give unknown results', () => {
  assert.equal(convertPrice(undefined, ONE_PRICE), undefined)
  assert.equal(convertPrice(ONE_PRICE, undefined), undefined)
  assert.equal(invertPrice(undefined), undefined)
  assert.equal(invertPrice(0n), undefined)
  assert.equal(valueOfAmount(1n, 18, undefined), undefined)
  assert.equal(priceOf(0n, 18, 1n, 18), undefined)
  assert.equal(priceOf(1n, 18, 0n, 18), undefined)
})

/** x * 1/x = 1 for reals; each factor loses less than one unit of its last digit. */
function assertReciprocal(there: bigint, back: bigint): void {
  const missing = ONE_PRICE * ONE_PRICE - there * back
  assert.ok(missing >= 0n && missing <= there + back + 1n, `${there} * ${back}`)
}

test('a price times its inverse is one, within rounding', () => {
  const amount = fc.oneof(fc.bigInt({ min: 1n, max: MAX_UINT256 }), fc.bigInt({ min: 1n, max: 10n ** 24n }))
  let compared = 0
  fc.assert(
    fc.property(amount, pricedDecimals, amount, pricedDecimals, (a, aDecimals, b, bDecimals) => {
      const there = priceOf(a, aDecimals, b, bDecimals)
      const back = priceOf(b, bDecimals, a, aDecimals)
      if (there === undefined || back === undefined) return
      compared++
      assertReciprocal(there, back)
    }),
    { numRuns: 1_000 },
  )
  fc.assert(
    fc.property(price, (there) => {
      const back = invertPrice(there)
      if (back !== undefined) assertReciprocal(there, back)
    }),
  )
  assert.ok(compared > 100, `only ${compared} pairs had both prices`)
})

test('converting by a price of one changes nothing', () => {
  fc.assert(fc.property(price, (quoted) => assert.equal(convertPrice(quoted, ONE_PRICE), quoted)))
})

test('powers of ten', () => {
  assert.equal(pow10(0), 1n)
  assert.equal(pow10(255), BigInt(`1${'0'.repeat(255)}`))
  for (const wrong of [-1, 0.5, Number.NaN]) assert.throws(() => pow10(wrong), RangeError)
})
