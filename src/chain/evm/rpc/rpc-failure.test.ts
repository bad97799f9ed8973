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
  ['eth_getLogs', -32_602, 'query returned more than 10000 results', 'reverted'],
  ['eth_getBlockReceipts', -32_003, 'response too large', 'too_large'],
  ['eth_getBlockReceipts', -32_603, 'internal error', 'failed'],
  ['eth_getBlockReceipts', -32_005, 'daily request count exceeded', 'rate_limited'],
  ['eth_call', 3, 'execution reverted: method not found', 'reverted'],
  ['eth_getLogs', -32_005, 'query returned more than 10000 results. Try with this block range', 'reverted'],
  ['eth_getLogs', -32_602, 'Log response size exceeded. You can make requests with up to 2K', 'reverted'],
  ['eth_getLogs', -32_000, 'exceed maximum block range: 5000', 'reverted'],
  ['eth_getLogs', -32_614, 'eth_getLogs is limited to a 10,000 range', 'reverted'],
  ['eth_getLogs', -32_000, 'requested too many blocks from 0 to 16777216, maximum is 2048', 'reverted'],
  ['eth_getLogs', -32_005, 'limit exceeded', 'rate_limited'],
  ['eth_getLogs', -32_000, 'One of the blocks specified in filter cannot be found', 'failed'],
  ['eth_call', -32_602, 'too many arguments, want at most 2', 'reverted'],
  ['eth_call', -32_602, 'invalid argument 1: header for hash not found', 'unknown_block'],
  ['eth_simulateV1', -32_601, 'the method eth_simulateV1 does not exist/is not available', 'unsupported'],
  ['eth_simulateV1', -38_015, 'block gas limit reached: 5000000 >= 4000000', 'reverted'],
  ['eth_simulateV1', -32_602, 'invalid argument 0: json: cannot unmarshal', 'unsupported'],
  ['eth_simulateV1', -32_000, 'header not found', 'unknown_block'],
  ['eth_simulateV1', -32_000, 'execution aborted (timeout = 5s)', 'failed'],
]

test('what an error object means', () => {
  for (const [method, code, text, kind] of CASES)
    assert.equal(toRpcFailure(method, code, text).kind, kind, text)
})
