import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import { toEvmFailure } from '../evm/rpc/evm-failure.ts'
import { createEvmRpc } from '../evm/rpc/rpc.ts'
import { JsonRpcClient } from './json-rpc-client.ts'

type Request = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
type Reply = { readonly result: unknown } | { readonly error: { code: number; message: string } }

const MAX_BYTES = 64_000
const BLOCK = 'ab'.repeat(4_500)
const { signal } = new AbortController()

let server: Server
let url: string
let batches: number[]
let status: number
/** What the node says to each request of a batch. */
let reply: (request: Request, place: number, batch: readonly Request[]) => Reply

before(async () => {
  server = createServer(async (incoming, response) => {
    const body = (await json(incoming)) as Request | Request[]
    const batch = Array.isArray(body) ? body : [body]
    batches.push(batch.length)
    const replies = batch.map((request, place) => ({ id: request.id, ...reply(request, place, batch) }))
    response.statusCode = status
    response.end(JSON.stringify(Array.isArray(body) ? replies : replies[0]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

after(() => {
  server.close()
  server.closeAllConnections()
})

beforeEach(() => {
  batches = []
  status = 200
  reply = ({ params: [block] }) => ({ result: `${block}${BLOCK}` })
})

async function receipts(client: JsonRpcClient, count: number): Promise<string[]> {
  const asked = Array.from({ length: count }, (_, block) =>
    client.request('eth_getBlockReceipts', [block], signal),
  )
  return (await Promise.all(asked)).map((answer) => String(answer).slice(0, -BLOCK.length))
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, number) => String(number))

describe('a batch whose answers are too large together', () => {
  test('is asked for in halves, and the next ones are small from the start', async () => {
    const client = new JsonRpcClient(url, 0, toEvmFailure, { maxResponseBytes: MAX_BYTES })
    assert.deepEqual(await receipts(client, 8), numbers(8))
    assert.deepEqual(batches, [8, 4, 4])
    batches = []
    assert.deepEqual(await receipts(client, 8), numbers(8))
    assert.deepEqual(batches, [4, 4])
  })

  test('shrinks down to one', async () => {
    const client = new JsonRpcClient(url, 0, toEvmFailure, { maxResponseBytes: 10_000 })
    assert.deepEqual(await receipts(client, 8), numbers(8))
    assert.equal(batches[0], 8)
    assert.equal(batches.filter((size) => size === 1).length, 8)
  })

  test('grows back by one after many that succeeded, up to where it began', async () => {
    const client = new JsonRpcClient(url, 0, toEvmFailure, { maxResponseBytes: MAX_BYTES })
    await receipts(client, 8)
    reply = ({ params: [block] }) => ({ result: `${block}${BLOCK.slice(0, 2)}` })
    const sizes = new Set<number>()
    for (let each = 0; each < 200; each++) {
      batches = []
      await Promise.all(Array.from({ length: 8 }, (_, block) => client.request('eth_x', [block], signal)))
      sizes.add(batches[0] ?? 0)
    }
    assert.deepEqual([...sizes], [4, 5, 6, 7, 8])
  })

  test('is asked for again where the node itself refuses the rest of it', async () => {
    reply = ({ params: [block] }, place) =>
      place < 2 ? { result: `${block}${BLOCK}` } : { error: { code: -32_003, message: 'response too large' } }
    const client = new JsonRpcClient(url, 0, toEvmFailure)
    assert.deepEqual(await receipts(client, 8), numbers(8))
    assert.deepEqual([batches[0], batches.at(-1)], [8, 2])
  })
})

test('one answer over the limit is an error with a code of its own, and the node is still trusted', async () => {
  reply = ({ method }) => {
    if (method === 'eth_chainId') return { result: '0x1' }
    return method === 'eth_blockNumber' ? { result: '0x5' } : { result: 'ab'.repeat(40_000) }
  }
  const common = createTestCommon()
  const outcomes: string[] = []
  const metrics = {
    answered: (_: string, outcome: string) => void outcomes.push(outcome),
    up: () => undefined,
  }
  const rpc = createEvmRpc({
    urls: [url],
    http: { maxResponseBytes: MAX_BYTES },
    chainId: 1,
    logger: common.logger,
    signal,
    metrics,
  })
  await assert.rejects(rpc.receipts(`0x${'ab'.repeat(32)}`), {
    code: 'node_answer_too_large',
    message: /the answer is longer than 64000 bytes/,
  })
  assert.ok(outcomes.includes('too_large'))
  assert.deepEqual(
    common.lines.filter(({ level }) => level >= 40),
    [],
  )
})

test('a JSON-RPC error counts whatever HTTP status it has, anything else is the status', async () => {
  const client = new JsonRpcClient(url, 0, toEvmFailure)
  const error = { code: -32_614, message: 'eth_getLogs is limited to a 10,000 range' }
  for (const [given, body, kind] of [
    [200, { error }, 'too_many_logs'],
    [400, { error }, 'too_many_logs'],
    [413, { error }, 'too_many_logs'],
    [413, { result: [] }, 'failed'],
    [500, { error }, 'failed'],
  ] as const) {
    status = given
    reply = () => body
    await assert.rejects(client.request('eth_getLogs', [], signal), { name: 'RpcFailure', kind })
  }
})
