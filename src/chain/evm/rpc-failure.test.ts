import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RpcFailureKind, toRpcFailure } from './rpc-failure.ts'

/** As nodes and providers really word it. */
const CASES: readonly [method: string, code: number, text: string, RpcFailureKind][] = [
  [
    'eth_getBlockReceipts',
    -32_601,
    'the method eth_getBlockReceipts does not exist/is not available',
    'unsupported',
  ],
  ['eth_getBlockReceipts', -32_601, 'Method not found', 'unsupported'],
  ['eth_getBlockReceipts', -32_600, 'Unsupported method: eth_getBlockReceipts on ETH_MAINNET', 'unsupported'],
  ['eth_getBlockReceipts', -32_604, 'Method not enabled', 'unsupported'],
  ['eth_getBlockReceipts', -32_004, 'Method not supported', 'unsupported'],
  ['eth_getBlockReceipts', -32_000, 'The method is not whitelisted', 'unsupported'],
  ['eth_getBlockReceipts', -32_000, 'block not found', 'unknown_block'],
  ['eth_getBlockReceipts', -32_000, 'header for hash not found', 'unknown_block'],
  ['eth_getLogs', -32_000, 'unknown block', 'unknown_block'],
  ['eth_getLogs', -32_602, 'query returned more than 10000 results', 'failed'],
  ['eth_getBlockReceipts', -32_603, 'internal error', 'failed'],
  ['eth_getBlockReceipts', -32_005, 'daily request count exceeded', 'rate_limited'],
  ['eth_call', 3, 'execution reverted: method not found', 'reverted'],
]

test('what an error object means', () => {
  for (const [method, code, text, kind] of CASES)
    assert.equal(toRpcFailure(method, code, text).kind, kind, text)
})
