import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slicesOf } from './concentration.ts'

test('the parts of the supply add up to one, and pools are nobody', () => {
  const holders = [
    { balance_ratio: 0.4, mark: 'pool' },
    { balance_ratio: 0.2, mark: '' },
    { balance_ratio: 0.1, mark: 'burned' },
    ...Array.from({ length: 12 }, () => ({ balance_ratio: 0.01, mark: '' })),
  ]
  const slices = slicesOf(holders)
  assert.deepEqual(
    slices.map(({ name, share }) => [name, share.toFixed(2)]),
    [
      ['in pools', '0.40'],
      ['burned', '0.10'],
      ['largest', '0.20'],
      ['2 to 10', '0.09'],
      ['11 to 100', '0.03'],
      ['everybody else', '0.18'],
    ],
  )
})

test('a list of more than the supply has no negative rest', () => {
  assert.deepEqual(slicesOf([{ balance_ratio: 1.2, mark: '' }]), [
    { name: 'largest', share: 1.2, className: 'first' },
  ])
  assert.deepEqual(slicesOf([]), [{ name: 'everybody else', share: 1, className: 'rest' }])
})
