import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TRADER_CODE } from '../src/chain/evm/inspect/trader-code.ts'
import { compile } from './market/artifacts.ts'

test('the compiled code that trades are tried with is that of the source beside it', () => {
  const source = new URL('../src/chain/evm/inspect/trader.sol', import.meta.url)
  const { runtime } = compile('Trader', source, { evmVersion: 'byzantium', withoutMetadata: true })
  assert.equal(TRADER_CODE, runtime)
})
