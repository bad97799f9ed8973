import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { evmAddress, solanaAddress } from '../../test/support/arbitraries/value-arbitraries.ts'
import {
  decodeAccountsAnswer,
  decodeAccountsQuestion,
  encodeAccountsAnswer,
  encodeAccountsQuestion,
  MAX_ACCOUNTS,
} from './account-question.ts'

const address = fc.oneof(evmAddress, solanaAddress)
const account = fc
  .tuple(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.boolean())
  .map(([balanceRaw, isContract]) => ({ balanceRaw, isContract }))

test('requests and responses survive the wire', () => {
  fc.assert(
    fc.property(fc.array(address, { maxLength: MAX_ACCOUNTS }), (addresses) => {
      assert.deepEqual(decodeAccountsQuestion(encodeAccountsQuestion(addresses)), addresses)
    }),
  )
  fc.assert(
    fc.property(fc.array(account, { maxLength: MAX_ACCOUNTS }), (accounts) => {
      assert.deepEqual(decodeAccountsAnswer(encodeAccountsAnswer(accounts), accounts.length), accounts)
    }),
  )
})

test('a malformed request is refused', () => {
  const one = `0x${'a'.repeat(40)}`
  for (const text of [
    ' ',
    one.toUpperCase(),
    `${one},${one}`,
    `${one} `,
    '0x12',
    new Array(101).fill(one).join(' '),
  ])
    assert.throws(() => decodeAccountsQuestion(text), { code: 'message_unreadable' }, text.slice(0, 60))
})

test('a malformed response, or one of another length, is refused', () => {
  for (const text of ['', '1', '1 2 3', '1 -2', '1 x', '1 2cc', '1  2', `1 ${'9'.repeat(79)}`])
    assert.throws(() => decodeAccountsAnswer(text, 2), { code: 'message_unreadable' }, text)
})
