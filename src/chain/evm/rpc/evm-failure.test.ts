import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RpcFailureKind } from '../../rpc/rpc-failure.ts'
import { toEvmFailure } from './evm-failure.ts'

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
  ['eth_getBlockReceipts', -32_003, 'response too large', 'too_large'],
  ['eth_getBlockReceipts', -32_603, 'internal error', 'failed'],
  ['eth_getBlockReceipts', -32_005, 'daily request count exceeded', 'rate_limited'],
  ['eth_call', 3, 'execution reverted: method not found', 'reverted'],
  ['eth_getLogs', -32_005, 'limit exceeded', 'rate_limited'],
  ['eth_getLogs', -32_003, 'response too large', 'too_large'],
  ['eth_getLogs', -32_602, 'invalid block range params', 'failed'],
  ['eth_getLogs', -32_602, 'block range extends beyond current head block', 'unknown_block'],
  ['eth_getLogs', -32_000, 'One of the blocks specified in filter cannot be found', 'failed'],
  ['eth_getLogs', 4_444, 'pruned history unavailable', 'pruned'],
  ['eth_getLogs', -32_000, 'historical logs are not available', 'pruned'],
  ['eth_getLogs', -32_000, 'logs at block 1 are pruned', 'pruned'],
  ['eth_getLogs', -32_000, 'this request requires an archive node', 'pruned'],
  ['eth_getLogs', -32_602, 'Archive requests are not available on your current plan', 'pruned'],
  ['eth_getBlockByNumber', 4_444, 'pruned history unavailable', 'failed'],
  ['eth_call', -32_602, 'too many arguments, want at most 2', 'reverted'],
  ['eth_call', -32_602, 'invalid argument 1: header for hash not found', 'unknown_block'],
  ['eth_simulateV1', -32_601, 'the method eth_simulateV1 does not exist/is not available', 'unsupported'],
  ['eth_simulateV1', -38_015, 'block gas limit reached: 5000000 >= 4000000', 'reverted'],
  ['eth_simulateV1', -32_602, 'invalid argument 0: json: cannot unmarshal', 'unsupported'],
  ['eth_simulateV1', -32_000, 'header not found', 'unknown_block'],
  ['eth_simulateV1', -32_000, 'execution aborted (timeout = 5s)', 'failed'],
]

test('the kind of a failure follows from method, code and text', () => {
  for (const [method, code, text, kind] of CASES)
    assert.equal(toEvmFailure(method, code, text).kind, kind, text)
})

/** How nodes and providers refuse a search for logs that a smaller range would make possible. */
const TOO_MANY_LOGS: readonly [code: number, text: string][] = [
  [-32_602, 'query returned more than 10000 results'],
  [-32_005, 'query returned more than 10000 results. Try with this block range [0x1, 0x2].'],
  [-32_005, 'query timeout exceeded'],
  [-32_602, 'range 1000000 exceeds limit of 10000'],
  [-32_602, 'Log response size exceeded. You can make requests with up to 2K'],
  [-32_600, 'You can make eth_getLogs requests with up to a 500 block range.'],
  [-32_000, 'exceed maximum block range: 5000'],
  [-32_000, 'block range is bigger than maxBlockRange'],
  [-32_614, 'eth_getLogs is limited to a 10,000 range'],
  [-32_600, 'eth_getLogs is limited to 1024 blocks'],
  [-32_000, 'requested too many blocks from 0 to 16777216, maximum is 2048'],
  [-32_602, 'Maximum allowed number of requested blocks is 1000'],
  [-32_600, 'block range is too wide'],
  [-32_600, 'maximum [from, to] blocks distance: 10000'],
  [-32_602, 'query exceeds max results 20000, retry with the range 1-2'],
  [-32_602, 'query exceeds max block range 100000'],
  [-32_020, 'backend response too large'],
  [-32_000, 'response size should not greater than 10000000 bytes'],
  [-32_000, 'logs matched by query exceeds limit of 10000'],
  [-32_000, 'please limit the query to at most 1000 blocks'],
  [-32_000, 'query must be smaller than size 1024'],
  [-32_005, 'Requested range exceeds maximum RPC range limit'],
  [-32_005, 'Too many logs requested. Max logs per response is 20000.'],
  [35, 'ranges over 10000 blocks are not supported on freetier'],
  [-32_047, 'Max range: 800'],
]

test('too many logs', () => {
  for (const [code, text] of TOO_MANY_LOGS) {
    assert.equal(toEvmFailure('eth_getLogs', code, text).kind, 'too_many_logs', text)
    assert.notEqual(toEvmFailure('eth_getBlockByNumber', code, text).kind, 'too_many_logs', text)
  }
})
