import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Hex } from 'viem'
import {
  address,
  EMPTY_BLOOM,
  goodReceipts,
  hash,
  header,
  rpcBlock,
  rpcLog,
  soleNode,
} from '../../../test/support/builders/evm-answers.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import { bloomOf, type ReceiptsRoot } from './proof/verify-receipts.ts'
import type { EvmNode, EvmRpc } from './rpc/rpc.ts'
import type { RpcBlock, RpcFoundLog, RpcTransaction } from './rpc/rpc-answers.ts'
import { createEvmSource } from './source.ts'

const transaction = (index: number, changes: Partial<RpcTransaction> = {}): RpcTransaction => ({
  hash: hash(`tx${index}`),
  from: address('wallet'),
  transactionIndex: `0x${index}`,
  blockHash: header.hash as Hex,
  ...changes,
})
const transactions = [transaction(0), transaction(1), transaction(2)]
const found = (index: number, of: number, changes: Partial<RpcFoundLog> = {}): RpcFoundLog => ({
  ...rpcLog(index, { topics: [hash(`topic${index}`)] }),
  transactionHash: hash(`tx${of}`),
  transactionIndex: `0x${of}`,
  ...changes,
})
const logs = [found(0, 0), found(1, 0), found(2, 2)]
const bloom = (of: readonly RpcFoundLog[]): Hex => `0x${bloomOf(of).toString('hex')}`
const fullBlock = (changes: Partial<RpcBlock> = {}): RpcBlock =>
  rpcBlock({ transactions, logsBloom: bloom(logs), ...changes })
const unsupported = async (): Promise<never> => {
  throw new RpcFailure('unsupported', 'eth_getBlockReceipts: error -32601: method not found')
}

/** A node without receipts that gives these answers, and how the pool fails when nobody has receipts. */
function sourceOf(answers: { block?: unknown; logs?: unknown }, receiptsRoot: ReceiptsRoot = 'verified') {
  const { nodes, reports } = soleNode({
    receipts: unsupported,
    fullBlockByHash: async () => ('block' in answers ? answers.block : fullBlock()) as RpcBlock,
    logs: async () => ('logs' in answers ? answers.logs : logs) as RpcFoundLog[],
  })
  const source = createEvmSource(
    { ...nodes, verified: (ask) => nodes.verified(ask).catch(asPool) },
    { finalityDepth: undefined, receiptsRoot },
  )
  return { source, reports }
}

function asPool(error: unknown): never {
  throw error instanceof RpcFailure ? new ChaintapeError('node_unavailable', error.message) : error
}

const isInvalid = (error: unknown): boolean =>
  error instanceof ChaintapeError && error.code === 'node_answer_invalid'

async function refuses(answers: { block?: unknown; logs?: unknown }, why: string, root?: ReceiptsRoot) {
  const { source, reports } = sourceOf(answers, root)
  await assert.rejects(source.transactions(header), isInvalid, why)
  assert.equal(reports.unproved, 0, why)
}

describe('a node without receipts', () => {
  test('gives the same block by its logs, reported as unproved', async () => {
    const { source, reports } = sourceOf({})
    const from = address('wallet')
    const log = (index: number) => ({
      index,
      address: address('pool'),
      topics: [hash(`topic${index}`)],
      data: Buffer.from('0102ff', 'hex'),
    })
    assert.deepEqual(await source.transactions(header), [
      { index: 0, hash: hash('tx0'), from, logs: [log(0), log(1)] },
      { index: 2, hash: hash('tx2'), from, logs: [log(2)] },
    ])
    assert.equal(reports.unproved, 1)
  })

  test('is not reported where the root is unverifiable', async () => {
    const { source, reports } = sourceOf({}, 'unverifiable')
    assert.equal((await source.transactions(header)).length, 2)
    assert.equal(reports.unproved, 0)
  })

  test('a block without logs has an empty bloom filter', async () => {
    const { source } = sourceOf({ block: fullBlock({ logsBloom: EMPTY_BLOOM }), logs: [] })
    assert.deepEqual(await source.transactions(header), [])
  })

  test('logs that are missing, on top or altered are noticed by the bloom filter', async () => {
    for (const root of ['verified', 'unverifiable'] as const) {
      await refuses({ logs: [] }, 'none at all', root)
      await refuses({ logs: logs.slice(0, 2) }, 'the last one is missing', root)
      await refuses({ block: fullBlock({ logsBloom: null }) }, 'no bloom filter', root)
      await refuses({ block: fullBlock({ logsBloom: '0x12' }) }, 'a malformed one', root)
      const altered = [...logs.slice(0, 2), found(2, 2, { topics: [hash('other')] })]
      await refuses({ logs: altered }, 'an altered one', root)
    }
    const more = [...logs, found(3, 2)]
    await refuses({ logs: more }, 'one on top')
    assert.equal((await sourceOf({ logs: more }, 'unverifiable').source.transactions(header)).length, 2)
  })

  test('logs out of order, of another block or of a transaction that is not there', async () => {
    const other = { blockHash: hash('other') }
    const cases: [RpcFoundLog[], string][] = [
      [[logs[1], logs[0], logs[2]] as RpcFoundLog[], 'order'],
      [[found(0, 0), found(2, 0), found(3, 2)], 'a gap'],
      [[found(0, 2), found(1, 0), found(2, 0)], 'order of transactions'],
      [[found(0, 0, other), ...logs.slice(1)], 'another block'],
      [[found(0, 0, { transactionHash: hash('tx1') }), ...logs.slice(1)], 'another transaction'],
      [[found(0, 0, { transactionIndex: '0x7' }), ...logs.slice(1)], 'no such transaction'],
      [[found(0, 0, { removed: true }), ...logs.slice(1)], 'removed'],
      [[{ ...found(0, 0), data: '0x012' }, ...logs.slice(1)], 'malformed'],
    ]
    for (const [wrong, why] of cases) await refuses({ logs: wrong }, why)
    for (const wrong of [null, {}, 'none', [null], undefined]) {
      await refuses({ logs: wrong }, JSON.stringify(wrong))
    }
  })

  test('a block that is another one, or whose transactions are not all there', async () => {
    await refuses({ block: null }, 'unknown')
    await refuses({ block: fullBlock({ hash: hash('other') }) }, 'another block')
    await refuses({ block: fullBlock({ transactions: [hash('tx0'), hash('tx1'), hash('tx2')] }) }, 'hashes')
    const wrong: Partial<RpcTransaction>[] = [
      { blockHash: hash('other') },
      { blockHash: null },
      { transactionIndex: '0x1' },
      { transactionIndex: null },
      { from: '0x12' },
      { hash: '0x12' },
    ]
    for (const changes of wrong) {
      const list = [transaction(0, changes), ...transactions.slice(1)]
      await refuses({ block: fullBlock({ transactions: list }) }, JSON.stringify(changes))
    }
  })
})

test('nodes with receipts are waited for, but not forever', async () => {
  let now = 0
  const asked: string[] = []
  let receipts: EvmRpc['receipts'] = async () => null
  const having = { label: 'having', receipts: () => receipts('') } as unknown as EvmNode
  const lacking = {
    label: 'lacking',
    receipts: unsupported,
    fullBlockByHash: async () => fullBlock(),
    logs: async () => logs,
    unproved: () => asked.push('unproved'),
  } as unknown as EvmNode
  // As the pool does it: one after the other, and what one knows of counts more than what another lacks.
  const source = createEvmSource(
    {
      verified: async (ask) => {
        try {
          return await ask(lacking)
        } catch (error) {
          if (!(error instanceof RpcFailure)) throw error
          return ask(having)
        }
      },
      elsewhere: async () => ({ asked: 0, answers: [] }),
      blame: () => undefined,
    },
    { finalityDepth: undefined, receiptsRoot: 'verified', now: () => now },
  )
  for (now = 0; now < 30_000; now += 5_000) await assert.rejects(source.transactions(header), isInvalid)
  assert.deepEqual(asked, [])
  assert.equal((await source.transactions(header)).length, 2)
  assert.deepEqual(asked, ['unproved'])
  receipts = async () => goodReceipts
  Object.assign(having, { blockByHash: async () => rpcBlock() })
  assert.equal((await source.transactions(header)).length, 2)
  receipts = async () => null
  await assert.rejects(source.transactions(header), isInvalid, 'the wait begins anew')
  assert.deepEqual(asked, ['unproved'])
})
