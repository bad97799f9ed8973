import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MULTICALL_CODE } from '../src/chain/evm/rpc/multicall-code.ts'
import { compile } from './market/artifacts.ts'

test('the compiled code that the reader runs is that of the source beside it', () => {
  const source = new URL('../src/chain/evm/rpc/multicall.sol', import.meta.url)
  const { bytecode } = compile('Multicall', source, { evmVersion: 'byzantium', withoutMetadata: true })
  assert.equal(MULTICALL_CODE, bytecode)
})
