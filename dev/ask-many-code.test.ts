import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ASK_MANY_CODE } from '../src/chain/evm/rpc/ask-many-code.ts'
import { compile } from './market/artifacts.ts'

test('the compiled code that the reader runs is that of the source beside it', () => {
  const source = new URL('../src/chain/evm/rpc/ask-many.sol', import.meta.url)
  const { bytecode } = compile('AskMany', source, { evmVersion: 'byzantium', withoutMetadata: true })
  assert.equal(ASK_MANY_CODE, bytecode)
})
