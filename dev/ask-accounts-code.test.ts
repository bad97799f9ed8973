import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ASK_ACCOUNTS_CODE } from '../src/chain/evm/facts/ask-accounts-code.ts'
import { compile } from './market/artifacts.ts'

test('the compiled code that accounts are asked with is that of the source beside it', () => {
  const source = new URL('../src/chain/evm/facts/ask-accounts.sol', import.meta.url)
  const { bytecode } = compile('AskAccounts', source, { evmVersion: 'byzantium', withoutMetadata: true })
  assert.equal(ASK_ACCOUNTS_CODE, bytecode)
})
