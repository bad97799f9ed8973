import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeLiquidityAnswer,
  decodeLiquidityQuestion,
  encodeLiquidityAnswer,
  encodeLiquidityQuestion,
  MAX_LIQUIDITY_ADDRESSES,
} from './liquidity-question.ts'

const address = `0x${'a'.repeat(40)}`

test('questions and answers survive the wire', () => {
  for (const addresses of [[], [address], [address, `0x${'b'.repeat(40)}`]])
    assert.deepEqual(decodeLiquidityQuestion(encodeLiquidityQuestion(addresses)), addresses)
  for (const dollars of [[], [0n], [undefined, 10n ** 40n, 3n]])
    assert.deepEqual(decodeLiquidityAnswer(encodeLiquidityAnswer(dollars), dollars.length), dollars)
})

test('anything else is refused', () => {
  const tooMany = Array.from({ length: MAX_LIQUIDITY_ADDRESSES + 1 }, () => address).join(' ')
  for (const text of ['x', `${address} `, address.toUpperCase(), tooMany])
    assert.throws(() => decodeLiquidityQuestion(text), { code: 'message_unreadable' })
  for (const text of ['', '1 2', '-1', '1e9', `${'9'.repeat(61)}`])
    assert.throws(() => decodeLiquidityAnswer(text, 1), { code: 'message_unreadable' })
})
