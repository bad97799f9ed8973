import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { concatHex, type Hex, keccak256, toRlp } from 'viem'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { RpcBlock, RpcLog, RpcReceipt } from '../rpc/rpc-answers.ts'
import { bloomOf, receiptsRootOf, verifyReceipts } from './verify-receipts.ts'

const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const word = (byte: number): Hex => `0x${byte.toString(16).padStart(2, '0').repeat(32)}`
const BLOCK_HASH = word(0xbb)

const log = (changes: Partial<RpcLog> = {}): RpcLog => ({
  blockHash: BLOCK_HASH,
  logIndex: '0x0',
  address: `0x${'11'.repeat(20)}`,
  topics: [word(1), word(2)],
  data: '0x0102',
  ...changes,
})
const receipt = (changes: Partial<RpcReceipt> = {}): RpcReceipt => ({
  blockHash: BLOCK_HASH,
  transactionHash: word(0xaa),
  transactionIndex: '0x0',
  from: `0x${'22'.repeat(20)}`,
  type: '0x2',
  status: '0x1',
  cumulativeGasUsed: '0x5208',
  logs: [],
  ...changes,
})
const bloomText = (logs: readonly RpcLog[]): Hex => `0x${bloomOf(logs).toString('hex')}`
const blockOf = (receipts: readonly RpcReceipt[], changes: Partial<RpcBlock> = {}): RpcBlock => ({
  number: '0x10',
  hash: BLOCK_HASH,
  parentHash: word(0xcc),
  timestamp: '0x1',
  transactions: [],
  logsBloom: bloomText(receipts.flatMap(({ logs }) => logs)),
  receiptsRoot: receiptsRootOf(receipts),
  ...changes,
})
function refuses(block: RpcBlock, receipts: readonly RpcReceipt[], message: RegExp): void {
  assert.throws(
    () => verifyReceipts(block, receipts, 'verified'),
    (error) =>
      error instanceof ChaintapeError && error.code === 'node_answer_invalid' && message.test(error.message),
  )
}

describe('the root', () => {
  test('is that of the empty trie without receipts', () => {
    assert.equal(receiptsRootOf([]), EMPTY_ROOT)
    verifyReceipts(blockOf([], { receiptsRoot: EMPTY_ROOT }), [], 'verified')
  })

  /** A trie of one leaf is its hash: the key 0 is the byte 0x80, so its path is 0x20 0x80. */
  const rootOfOne = (encoding: Hex): Hex => keccak256(toRlp(['0x2080', encoding]))
  const logs = [log(), log({ topics: [], data: '0x' }), log({ topics: [word(3)], data: '0x7d' })]
  const logItems = logs.map(({ address, topics, data }) => [address, [...topics], data])
  const bloom = bloomText(logs)

  test('encodes each type as specified', () => {
    const fields = ['0x01', '0x5208', bloom, logItems] as const
    assert.equal(receiptsRootOf([receipt({ type: '0x0', logs })]), rootOfOne(toRlp([...fields])))
    assert.equal(receiptsRootOf([receipt({ type: null, logs })]), rootOfOne(toRlp([...fields])))
    for (const type of ['01', '02', '03', '04', '64', '65', '66', '68', '69', '6a', '7e']) {
      const expected = rootOfOne(concatHex([`0x${type}`, toRlp([...fields])]))
      assert.equal(
        receiptsRootOf([receipt({ type: `0x${Number.parseInt(type, 16).toString(16)}`, logs })]),
        expected,
      )
    }
  })

  test('holds a failure as nothing, and before Byzantium the state instead of the status', () => {
    const failed = receipt({ type: '0x0', status: '0x0', logs })
    assert.equal(receiptsRootOf([failed]), rootOfOne(toRlp(['0x', '0x5208', bloom, logItems])))
    const early = receipt({ type: '0x0', status: null, root: word(7), logs })
    assert.equal(receiptsRootOf([early]), rootOfOne(toRlp([word(7), '0x5208', bloom, logItems])))
    assert.equal(receiptsRootOf([{ ...failed, root: '0x' }]), receiptsRootOf([failed]))
  })

  test("holds a deposit's nonce only together with a version", () => {
    const fields = ['0x01', '0x5208', bloom, logItems] as const
    const regolith = receipt({ type: '0x7e', depositNonce: '0x9', logs })
    assert.equal(receiptsRootOf([regolith]), rootOfOne(concatHex(['0x7e', toRlp([...fields])])))
    const canyon = { ...regolith, depositReceiptVersion: '0x1' } as const
    const expected = rootOfOne(concatHex(['0x7e', toRlp([...fields, '0x09', '0x01'])]))
    assert.equal(receiptsRootOf([canyon]), expected)
    assert.throws(() => receiptsRootOf([{ ...canyon, depositNonce: null }]), /depositNonce is null/)
  })

  test('cannot be had of an unknown type or a missing field', () => {
    for (const type of ['0x5', '0x67', '0x78', '0x7d', '0x100'] as const) {
      assert.throws(() => receiptsRootOf([receipt({ type })]), /unknown receipt type/, type)
    }
    const broken: [Partial<Record<keyof RpcReceipt, unknown>>, RegExp][] = [
      [{ type: 'x' }, /type is x/],
      [{ status: null }, /status is null/],
      [{ status: '0x2' }, /status is 2/],
      [{ status: '' }, /status is/],
      [{ root: '0x12' }, /malformed root/],
      [{ cumulativeGasUsed: undefined }, /cumulativeGasUsed is undefined/],
      [{ cumulativeGasUsed: 21_000 }, /cumulativeGasUsed is 21000/],
    ]
    for (const [changes, message] of broken) {
      assert.throws(() => receiptsRootOf([{ ...receipt(), ...changes } as RpcReceipt]), message)
    }
  })
})

describe('the bloom filter', () => {
  test('has three bits for the address and each topic', () => {
    // keccak of twenty 0x11: the first three pairs of bytes, modulo 2048.
    const hash = Buffer.from(keccak256(log().address).slice(2), 'hex')
    const bits = [0, 2, 4].map((at) => BigInt(hash.readUInt16BE(at) % 2048))
    const expected = bits.reduce((sum, bit) => sum | (1n << bit), 0n)
    assert.equal(BigInt(bloomText([log({ topics: [] })])), expected)
    assert.equal(bloomText([]), `0x${'0'.repeat(512)}`)
  })

  test('may be left out of receipts and header, but must be right where it is', () => {
    const receipts = [receipt({ logs: [log()] })]
    const block = blockOf(receipts)
    for (const logsBloom of [null, undefined]) {
      verifyReceipts(
        { ...block, logsBloom } as RpcBlock,
        [{ ...receipts[0], logsBloom } as RpcReceipt],
        'verified',
      )
    }
    const empty = bloomText([])
    const other = bloomText([log(), log({ topics: [word(9)] })])
    const withBloom = (logsBloom: Hex) => [receipt({ logs: [log()], logsBloom })]
    refuses(block, withBloom(empty), /block 16, receipt 0: has a log that is not in the bloom filter/)
    refuses(block, withBloom(other), /block 16, receipt 0: the bloom filter has a log that is missing/)
    refuses(block, withBloom('0x00'), /malformed/)
    refuses({ ...block, logsBloom: empty }, receipts, /block 16: has a log/)
    refuses({ ...block, logsBloom: other }, receipts, /block 16: the bloom filter has a log/)
  })

  test('is all there is on a chain whose root cannot be recomputed', () => {
    const covered = [receipt({ logs: [log()] })]
    const block = blockOf(covered, { receiptsRoot: word(0) })
    const outside = receipt({ type: '0x7d', logs: [log({ topics: [word(8)] })] })
    verifyReceipts(block, [...covered, outside], 'unverifiable')
    assert.throws(() => verifyReceipts(block, [outside], 'unverifiable'), /a log that is missing/)
  })
})

describe('any single change is noticed', () => {
  const hex = (bytes: number) =>
    fc
      .uint8Array({ minLength: bytes, maxLength: bytes })
      .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`)
  const data = fc.uint8Array({ maxLength: 70 }).map((value): Hex => `0x${Buffer.from(value).toString('hex')}`)
  const anyLog = fc
    .record({ address: hex(20), topics: fc.array(hex(32), { maxLength: 4 }), data })
    .map((fields) => log(fields))
  const quantity = fc.nat().map((value): Hex => `0x${value.toString(16)}`)
  const anyReceipt = fc
    .record({
      type: fc.constantFrom<Hex>('0x0', '0x1', '0x2', '0x3', '0x4', '0x6a', '0x7e'),
      status: fc.constantFrom<Hex>('0x0', '0x1'),
      cumulativeGasUsed: quantity,
      logs: fc.array(anyLog, { minLength: 1, maxLength: 3 }),
    })
    .map((fields) => receipt(fields))
  // Beyond 128 and 256 receipts the trie's keys become longer.
  const anyReceipts = fc.oneof(
    { weight: 6, arbitrary: fc.array(anyReceipt, { minLength: 2, maxLength: 20 }) },
    { weight: 1, arbitrary: fc.array(anyReceipt, { minLength: 126, maxLength: 131, size: 'max' }) },
    { weight: 1, arbitrary: fc.array(anyReceipt, { minLength: 254, maxLength: 259, size: 'max' }) },
  )
  const flip = (text: Hex): Hex => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}` as Hex
  const inFirstLog = (change: (first: RpcLog) => RpcLog[]) => (each: RpcReceipt) => [
    { ...each, logs: [...change(each.logs[0] as RpcLog), ...each.logs.slice(1)] },
  ]
  const changes: Record<string, (each: RpcReceipt) => RpcReceipt[]> = {
    type: (each) => [{ ...each, type: each.type === '0x2' ? '0x1' : '0x2' }],
    status: (each) => [{ ...each, status: flip(each.status as Hex) }],
    gas: (each) => [{ ...each, cumulativeGasUsed: flip(each.cumulativeGasUsed as Hex) }],
    'a log left out': inFirstLog(() => []),
    'a log doubled': inFirstLog((first) => [first, first]),
    address: inFirstLog((first) => [{ ...first, address: flip(first.address) }]),
    'data changed': inFirstLog((first) => [
      { ...first, data: first.data === '0x' ? '0x00' : flip(first.data) },
    ]),
    'data longer': inFirstLog((first) => [{ ...first, data: `${first.data}00` }]),
    'topic changed or new': inFirstLog((first) => {
      const [topic, ...rest] = first.topics
      return [{ ...first, topics: topic === undefined ? [word(5)] : [flip(topic), ...rest] }]
    }),
    'a receipt left out': () => [],
    'a receipt doubled': (each) => [each, each],
  }

  test('in any receipt', () => {
    fc.assert(
      fc.property(anyReceipts, fc.nat(), fc.constantFrom(...Object.keys(changes)), (receipts, pick, name) => {
        const at = pick % receipts.length
        const block = blockOf(receipts)
        verifyReceipts(block, receipts, 'verified')
        const changed = receipts.flatMap((each, index) =>
          index === at ? (changes[name]?.(each) ?? []) : [each],
        )
        refuses(block, changed, /./)
        // Without the header's filter only the root can detect it.
        refuses({ ...block, logsBloom: null }, changed, /receipts hash to/)
      }),
      { numRuns: 150 },
    )
  })

  test('in the order of receipts or of logs', () => {
    fc.assert(
      fc.property(anyReceipts, (receipts) => {
        const block = blockOf(receipts)
        const reversed = receipts.toReversed()
        if (JSON.stringify(reversed) !== JSON.stringify(receipts)) refuses(block, reversed, /./)
        const [first, ...rest] = receipts as [RpcReceipt, ...RpcReceipt[]]
        const turned = { ...first, logs: first.logs.toReversed() }
        if (JSON.stringify(turned) !== JSON.stringify(first)) refuses(block, [turned, ...rest], /./)
      }),
      { numRuns: 50 },
    )
  })
})
