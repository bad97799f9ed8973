import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Hex } from 'viem'
import {
  address,
  EMPTY_BLOOM,
  goodReceipts,
  hash,
  header,
  receipt,
  rpcBlock,
  rpcLog,
  soleNode,
} from '../../../test/support/builders/evm-answers.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import { type ReceiptsRoot, receiptsRootOf } from './proof/verify-receipts.ts'
import type { RpcBlock, RpcLog, RpcReceipt } from './rpc/rpc-answers.ts'
import { createEvmSource } from './source.ts'

/** A node that gives these answers, right or wrong. */
function sourceOf(
  answers: { block?: unknown; receipts?: unknown },
  finalityDepth?: number,
  receiptsRoot: ReceiptsRoot = 'verified',
) {
  const block = async () => ('block' in answers ? answers.block : rpcBlock()) as RpcBlock | null
  const { nodes } = soleNode({
    blockByTag: block,
    blockByNumber: block,
    blockByHash: block,
    receipts: async () => ('receipts' in answers ? answers.receipts : goodReceipts) as RpcReceipt[] | null,
  })
  return createEvmSource(nodes, { finalityDepth, receiptsRoot })
}

const isInvalid = (error: unknown): boolean =>
  error instanceof ChaintapeError && error.code === 'node_answer_invalid'

async function refusesTransactions(answers: { block?: unknown; receipts?: unknown }, why: string) {
  await assert.rejects(sourceOf(answers).transactions(header), isInvalid, why)
}

describe('headers', () => {
  test('are read as the node returns them', async () => {
    const source = sourceOf({})
    assert.deepEqual(await source.head(), header)
    assert.deepEqual(await source.headerAt(16), header)
    assert.deepEqual(await source.headerOf(header.hash), header)
  })

  test('a block the node does not have is undefined, but there is always a latest one', async () => {
    const source = sourceOf({ block: null })
    assert.equal(await source.headerAt(16), undefined)
    assert.equal(await source.headerOf(header.hash), undefined)
    assert.equal(await source.finalised(), undefined)
    await assert.rejects(source.head(), isInvalid)
  })

  test('another block than the one asked for is refused', async () => {
    await assert.rejects(sourceOf({}).headerAt(17), isInvalid)
    await assert.rejects(sourceOf({}).headerOf(hash('other')), isInvalid)
  })

  test('a pending or malformed block is refused', async () => {
    const broken: unknown[] = [
      rpcBlock({ number: null }),
      rpcBlock({ hash: null }),
      rpcBlock({ hash: '0x12' }),
      rpcBlock({ parentHash: '0x' }),
      rpcBlock({ parentHash: `0x${'g'.repeat(64)}` }),
      rpcBlock({ number: '0x' }),
      rpcBlock({ number: '0xzz' as Hex }),
      rpcBlock({ number: '' as Hex }),
      rpcBlock({ number: '16' as Hex }),
      rpcBlock({ number: 16 as unknown as Hex }),
      rpcBlock({ number: `0x${'f'.repeat(30)}` }),
      rpcBlock({ timestamp: '-0x1' as Hex }),
      rpcBlock({ timestamp: '' as Hex }),
      rpcBlock({ timestamp: undefined as unknown as Hex }),
      rpcBlock({ timestamp: '0x100000000' }),
      {},
      [],
      'block',
      undefined,
    ]
    for (const block of broken) {
      await assert.rejects(sourceOf({ block }).head(), isInvalid, JSON.stringify(block))
    }
  })

  test('finality by depth counts from the head', async () => {
    assert.equal(await sourceOf({}, 17).finalised(), undefined)
    assert.deepEqual(await sourceOf({}, 0).finalised(), header)
  })
})

describe('transactions', () => {
  test('are those with logs, and all their logs in order', async () => {
    const log = (index: number) => ({
      index,
      address: address('pool'),
      topics: [hash('topic')],
      data: Buffer.from('0102ff', 'hex'),
    })
    const from = address('wallet')
    assert.deepEqual(await sourceOf({}).transactions(header), [
      { index: 0, hash: hash('tx0'), from, logs: [log(0), log(1)] },
      { index: 2, hash: hash('tx2'), from, logs: [log(2)] },
    ])
  })

  test('a block without transactions has none', async () => {
    for (const logsBloom of [EMPTY_BLOOM, null, undefined]) {
      const block = { ...rpcBlock({ transactions: [], receiptsRoot: receiptsRootOf([]) }), logsBloom }
      assert.deepEqual(await sourceOf({ block, receipts: [] }).transactions(header), [])
    }
  })

  test('no logs, although the bloom filter says there are some', async () => {
    const receipts = [receipt(0, []), receipt(1, []), receipt(2, [])]
    await refusesTransactions({ receipts }, 'all empty')
    await refusesTransactions({ receipts: [], block: rpcBlock({ transactions: [] }) }, 'no receipts')
  })

  test('a missing, doubled or misplaced receipt', async () => {
    const [first, second, third] = goodReceipts
    await refusesTransactions({ receipts: [first, third] }, 'one is missing')
    await refusesTransactions({ receipts: [] }, 'all are missing')
    await refusesTransactions({ receipts: null }, 'the node does not know the block')
    await refusesTransactions({ block: null }, 'the node does not know the block')
    await refusesTransactions({ receipts: [first, first, third] }, 'one is doubled')
    await refusesTransactions({ receipts: [second, first, third] }, 'out of order')
  })

  test('receipts of other transactions than those of the block', async () => {
    const block = rpcBlock({ transactions: [hash('tx0'), hash('tx2'), hash('tx1')] })
    await refusesTransactions({ block }, 'order')
    const [first, second] = goodReceipts
    const stranger = receipt(2, [rpcLog(2)], { transactionHash: hash('stranger') })
    await refusesTransactions({ receipts: [first, second, stranger] }, 'stranger')
  })

  test('the last log is left out', async () => {
    const [first, second] = goodReceipts
    const receipts = [first, second, receipt(2, [])]
    // All logs are equal here, so the block's bloom filter does not change: only the root detects it.
    await refusesTransactions({ receipts }, 'with a bloom filter')
    await refusesTransactions({ block: rpcBlock({ logsBloom: null }), receipts }, 'without one')
  })

  test('a receipt without one of the fields that the root covers', async () => {
    const [first, second, third] = goodReceipts
    for (const field of ['type', 'status', 'cumulativeGasUsed'] as const) {
      for (const value of [undefined, null]) {
        await refusesTransactions({ receipts: [first, second, { ...third, [field]: value }] }, field)
      }
    }
  })

  test('a header with a wrong root or none, unless the chain is known for that', async () => {
    for (const receiptsRoot of [undefined, null, '0x12', hash('other')]) {
      const block = { ...rpcBlock(), receiptsRoot }
      await refusesTransactions({ block }, String(receiptsRoot))
      assert.equal((await sourceOf({ block }, undefined, 'unverifiable').transactions(header)).length, 2)
    }
  })

  test('an empty answer is noticed even where the root cannot be verified', async () => {
    const receipts = [receipt(0, []), receipt(1, []), receipt(2, [])]
    await assert.rejects(sourceOf({ receipts }, undefined, 'unverifiable').transactions(header), isInvalid)
  })

  test('anything of another block', async () => {
    const [, second, third] = goodReceipts
    const other = { blockHash: hash('other') }
    const withReceipt = (first: RpcReceipt) => ({ receipts: [first, second, third] })
    await refusesTransactions(withReceipt(receipt(0, [rpcLog(0), rpcLog(1)], other)), 'receipt')
    await refusesTransactions(withReceipt(receipt(0, [rpcLog(0), rpcLog(1, other)])), 'log')
    await refusesTransactions({ block: rpcBlock({ hash: hash('other') }) }, 'block')
  })

  test('a gap in the log index', async () => {
    const [, second, third] = goodReceipts
    for (const logs of [
      [rpcLog(0)],
      [rpcLog(1)],
      [rpcLog(0), rpcLog(2)],
      [rpcLog(1), rpcLog(0)],
      [rpcLog(0), rpcLog(0)],
    ]) {
      await refusesTransactions({ receipts: [receipt(0, logs), second, third] }, JSON.stringify(logs))
    }
  })

  test('malformed fields', async () => {
    const [, second, third] = goodReceipts
    const brokenLogs: Partial<Record<keyof RpcLog, unknown>>[] = [
      { data: '0x012' },
      { data: '0x01zz' },
      { data: '0102' },
      { data: null },
      { address: '0x12' },
      { topics: ['0x12'] },
      { topics: null },
      { logIndex: '' },
      { logIndex: null },
    ]
    for (const changes of brokenLogs) {
      const logs = [{ ...rpcLog(0), ...changes } as RpcLog, rpcLog(1)]
      await refusesTransactions({ receipts: [receipt(0, logs), second, third] }, JSON.stringify(changes))
    }
    const brokenReceipts: Partial<Record<keyof RpcReceipt, unknown>>[] = [
      { from: '0x' },
      { transactionHash: '0x12' },
      { transactionIndex: '' },
      { transactionIndex: null },
      { logs: null },
      { logs: {} },
    ]
    for (const changes of brokenReceipts) {
      const first = { ...receipt(0, [rpcLog(0), rpcLog(1)]), ...changes }
      await refusesTransactions({ receipts: [first, second, third] }, JSON.stringify(changes))
    }
    for (const receipts of [{}, 'none', [null, second, third], undefined]) {
      await refusesTransactions({ receipts }, JSON.stringify(receipts))
    }
    await refusesTransactions({ block: { ...rpcBlock(), transactions: null } }, 'no transactions')
  })
})

test('a wrong header of another node is not held against the node that has the receipts', async () => {
  const { nodes } = soleNode({
    blockByNumber: async () => rpcBlock({ receiptsRoot: hash('a lie') }),
    blockByHash: async () => rpcBlock(),
    receipts: async () => goodReceipts,
  })
  const source = createEvmSource(nodes, { finalityDepth: undefined, receiptsRoot: 'verified' })
  const found = await source.headerAt(16)
  assert.ok(found)
  assert.equal((await source.transactions(found)).length, 2)
})

test('a node that repeats a block but cannot serve it is blamed', async () => {
  let isUndone = false
  const { nodes, reports } = soleNode({
    blockByNumber: async () => rpcBlock(isUndone ? { hash: hash('another') } : {}),
    blockByHash: async () => null,
    receipts: async () => null,
  })
  const source = createEvmSource(nodes, { finalityDepth: undefined, receiptsRoot: 'verified' })
  const found = await source.headerAt(16)
  assert.ok(found)
  await assert.rejects(source.transactions(found), isInvalid)
  assert.deepEqual(reports.blamed, [`sole: returned block ${header.hash} at 16, but does not know its hash`])
  isUndone = true
  await assert.rejects(source.transactions(found), isInvalid)
  assert.equal(reports.blamed.length, 1, 'it may have been undone')
})

describe('a block and its receipts, asked for together', () => {
  const options = { finalityDepth: undefined, receiptsRoot: 'verified' } as const

  test('are one question by number where the receipts prove the block', async () => {
    const asked: unknown[] = []
    const { nodes, reports } = soleNode({
      blockByNumber: async () => rpcBlock(),
      receipts: async (block) => {
        asked.push(block)
        return goodReceipts
      },
    })
    const found = await createEvmSource(nodes, options).blockAt?.(16)
    assert.deepEqual(found?.header, header)
    assert.equal(found.transactions.length, 2)
    assert.deepEqual([asked, reports.blamed], [[16], []])
  })

  test('receipts of another block, of none, or no answer, are asked for again by hash', async () => {
    const other = goodReceipts.map((one) => ({ ...one, blockHash: hash('another') }))
    for (const atNumber of [other, [], null, new RpcFailure('unknown_block', 'gone')]) {
      const asked: unknown[] = []
      const { nodes, reports } = soleNode({
        blockByNumber: async () => rpcBlock(),
        receipts: async (block) => {
          asked.push(block)
          if (typeof block === 'string') return goodReceipts
          if (atNumber instanceof RpcFailure) throw atNumber
          return atNumber
        },
      })
      const found = await createEvmSource(nodes, options).blockAt?.(16)
      assert.equal(found?.transactions.length, 2)
      assert.deepEqual([asked, reports.blamed], [[16, header.hash], []])
    }
  })

  test('receipts that are wrong by hash as well are refused', async () => {
    const { nodes } = soleNode({
      blockByNumber: async () => rpcBlock(),
      blockByHash: async () => rpcBlock(),
      receipts: async () => goodReceipts.slice(1),
    })
    await assert.rejects(createEvmSource(nodes, options).blockAt?.(16) ?? Promise.resolve(), isInvalid)
  })

  test('a block that the node does not have is undefined', async () => {
    const { nodes } = soleNode({ blockByNumber: async () => null, receipts: async () => null })
    assert.equal(await createEvmSource(nodes, options).blockAt?.(16), undefined)
  })
})
