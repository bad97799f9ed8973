import assert from 'node:assert/strict'
import test from 'node:test'
import { withDecimals } from './decimals.ts'

class Decimal {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

test('decimal fields become decimals, unknown ones undefined, and all others stay', () => {
  const page = {
    txs: [
      {
        id: '5-1',
        amount_usd: '1.5',
        from_price_usd: '',
        symbol: '100',
        time: 7,
        unknown: ['from_price_usd'],
      },
    ],
    total: 3,
  }
  const converted = withDecimals(page, (text) => new Decimal(text))
  // Types: a decimal may be unknown, and a number stays a number.
  const amount: Decimal | undefined = converted.txs[0]?.amount_usd
  const total: number = converted.total
  assert.deepEqual(converted, {
    txs: [
      {
        id: '5-1',
        amount_usd: new Decimal('1.5'),
        from_price_usd: undefined,
        symbol: '100',
        time: 7,
        unknown: ['from_price_usd'],
      },
    ],
    total: 3,
  })
  assert.deepEqual([amount?.text, total], ['1.5', 3])
})
