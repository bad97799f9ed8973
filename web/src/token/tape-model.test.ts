import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sideOf, TAPE_ROWS, type TapeSwap, tapeOf, targetOf, withRetraction, withSwap } from './tape-model.ts'

function swap(id: string, changes: Partial<TapeSwap> = {}): TapeSwap {
  return {
    ...{ id, time: 1, tx_swap_type: 0, amount_usd: '1', target_token: 'meme', transaction: '0x1' },
    ...{ from_address: 'weth', from_amount: '2', from_price_usd: '3000' },
    ...{ to_amount: '5', to_price_usd: '0.1', wallet_address: '0x2' },
    ...changes,
  }
}

test('the newest swap is first, and the tape does not grow without end', () => {
  let rows = tapeOf([swap('2-1'), swap('1-1')])
  for (let block = 3; block < TAPE_ROWS + 50; block++) rows = withSwap(rows, swap(`${block}-1`))
  assert.equal(rows.length, TAPE_ROWS)
  assert.equal(rows[0]?.swap.id, `${TAPE_ROWS + 49}-1`)
})

test('a retracted swap stays, and a new one with the same id is another row', () => {
  const before = tapeOf([swap('2-1'), swap('1-1')])
  const after = withSwap(withRetraction(before, ['2-1', '9-9']), swap('2-1', { transaction: '0x9' }))
  assert.deepEqual(
    after.map(({ swap: { id, transaction }, isRetracted }) => [id, transaction, isRetracted]),
    [
      ['2-1', '0x9', false],
      ['2-1', '0x1', true],
      ['1-1', '0x1', false],
    ],
  )
  assert.equal(after[2], before[1], 'an untouched row is the same object')
})

test('amount and price are those of the target token', () => {
  assert.deepEqual(targetOf(swap('1-1')), { amount: '5', price: '0.1' })
  const sale = swap('1-1', { from_address: 'meme', tx_swap_type: 1 })
  assert.deepEqual(targetOf(sale), { amount: '2', price: '3000' })
  assert.deepEqual(
    [0, 1, -1].map((type) => sideOf(swap('1-1', { tx_swap_type: type }))),
    [...['buy', 'sell', 'unknown']],
  )
})
