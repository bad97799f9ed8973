import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  direction,
  formatAge,
  formatAmount,
  formatChange,
  formatCount,
  formatLag,
  formatPrice,
  formatRate,
  formatShare,
  formatUsd,
  shortAddress,
  UNKNOWN,
} from './format.ts'

test('prices have five significant digits at any size', () => {
  const rows: [string, string][] = [
    ['0', '0'],
    ['1', '1.00'],
    ['63999.456', '63,999.46'],
    ['123456.7', '123,457'],
    ['999.994', '999.99'],
    ['12.3456789', '12.346'],
    ['0.12', '0.12'],
    ['0.0123456', '0.012346'],
    ['0.000123456', '0.00012346'],
    ['0.0000123456', '0.0₄12346'],
    ['0.0000000000000000000123', '0.0₁₉123'],
    [`0.${'0'.repeat(95)}1`, '1.0000e-96'],
  ]
  for (const [given, shown] of rows) assert.equal(formatPrice(given), shown)
})

test('an unknown value is never shown as a number', () => {
  for (const given of [undefined, '', 'x', 'NaN']) {
    for (const format of [formatPrice, formatUsd, formatAmount, formatChange, formatShare])
      assert.equal(format(given), UNKNOWN)
  }
  assert.equal(formatAge(undefined, 100), UNKNOWN)
})

test('money, changes, shares and ages are short', () => {
  assert.deepEqual(['0', '0.004', '5', '999.4', '1234', '56789', '-2500000', '3210000000'].map(formatUsd), [
    '$0',
    '$0.004',
    '$5.00',
    '$999',
    '$1.23K',
    '$56.8K',
    '-$2.50M',
    '$3.21B',
  ])
  assert.deepEqual(['999499', '999950', '6', '0.5'].map(formatAmount), ['999K', '1.00M', '6.00', '0.50'])
  assert.deepEqual(
    [['1234', 0, undefined].map(formatCount), [850, 1_240, 200_000].map(formatLag)],
    [
      ['1,234', '0', UNKNOWN],
      ['850 ms', '1.2 s', '3m'],
    ],
  )
  assert.equal(formatRate(90), '1.50')
  assert.deepEqual(['12.345', '-0.5', '0', '123.4', '5400'].map(formatChange), [
    ...['+12.3%', '-0.50%', '0.00%', '+123%', '+5,400%'],
  ])
  assert.deepEqual(['0.2', '0.01234', '0.00000001', '0'].map(formatShare), [
    '20.0%',
    '1.23%',
    '<0.01%',
    '0.00%',
  ])
  assert.deepEqual(
    [100, 99, 40, -3_600, -90_000].map((time) => formatAge(time, 100)),
    ['0s', '1s', '1m', '1h', '1d'],
  )
})

test('addresses are shortened in the middle, and changes have a direction', () => {
  assert.equal(shortAddress(`0x1234${'0'.repeat(32)}cdef`), '0x1234…cdef')
  assert.equal(shortAddress('0x1234'), '0x1234')
  assert.deepEqual(['1', '-1', '0', '', undefined].map(direction), ['up', 'down', 'flat', 'flat', 'flat'])
})
