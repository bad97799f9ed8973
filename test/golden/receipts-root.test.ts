import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { provedByReceipts } from '../../src/chain/evm/proof/block-logs.ts'
import { receiptsRootOf, verifyReceipts } from '../../src/chain/evm/proof/verify-receipts.ts'
import type { RpcBlock, RpcReceipt } from '../../src/chain/evm/rpc/rpc-answers.ts'

/** Every other block must verify. What the check says of these, and why that is right. */
const exceptions: Readonly<
  Record<string, { verified: RegExp; unverifiable: RegExp | undefined; why: string }>
> = {
  'polygon-20000000': {
    verified: /111 receipts hash to/,
    unverifiable: undefined,
    why: 'the last receipt is a Bor state sync, outside the root: see the next test',
  },
  'cronos-11446765': {
    verified: /bloom filter has a log/,
    unverifiable: /bloom filter has a log/,
    why: 'Ethermint left the logs of a failed transaction in the filter; its root is not of this kind either',
  },
  'ethereum-12505500': {
    verified: /cumulativeGasUsed is undefined/,
    unverifiable: undefined,
    why: 'the recording lacks cumulativeGasUsed and types',
  },
}

const repo = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const fixtures = process.env['CHAINTAPE_FIXTURES'] ?? resolve(repo, '../shared/fixtures')
const folder = join(fixtures, 'evm', 'blocks')
const isThere = existsSync(folder)
if (!isThere) console.log(`no fixtures at ${folder}: set CHAINTAPE_FIXTURES to run the golden tests`)

const names = isThere
  ? readdirSync(folder).flatMap((file) => (file.endsWith('.block.json') ? [file.slice(0, -11)] : []))
  : []

test('the receipts of every fixture block have the root of its header', { skip: !isThere }, () => {
  let verified = 0
  for (const name of names) {
    const { block, receipts } = read(name)
    const exception = exceptions[name]
    if (exception === undefined) {
      verifyReceipts(block, receipts, 'verified')
      verifyReceipts(block, receipts, 'unverifiable')
      verified += 1
      continue
    }
    assert.throws(() => verifyReceipts(block, receipts, 'verified'), exception.verified, name)
    if (exception.unverifiable === undefined) verifyReceipts(block, receipts, 'unverifiable')
    else assert.throws(() => verifyReceipts(block, receipts, 'unverifiable'), exception.unverifiable, name)
    console.log(`${name} is an exception: ${exception.why}`)
  }
  assert.equal(verified, names.length - Object.keys(exceptions).length, 'every exception is there')
  assert.ok(verified >= 30)
  console.log(
    `${verified} blocks agree with their headers: all of which ${fixtures}/SOURCES.md says that they can`,
  )
})

test('the Bor block agrees once its state-sync receipt is left out', { skip: !isThere }, () => {
  const { block, receipts } = read('polygon-20000000')
  assert.equal(receiptsRootOf(receipts.slice(0, -1)), block.receiptsRoot)
  const ref = { number: 20_000_000, hash: block.hash ?? '' }
  const transactions = provedByReceipts(ref, block, receipts, 'verified')
  assert.ok(transactions.length > 0 && transactions.every(({ index }) => index < receipts.length - 1))
  const last = receipts.at(-1)
  const disguised = receipts.with(-1, { ...last, transactionHash: `0x${'ab'.repeat(32)}` } as RpcReceipt)
  assert.throws(() => provedByReceipts(ref, block, disguised, 'verified'), { code: 'node_answer_invalid' })
})

test('without its last log no fixture block agrees', { skip: !isThere }, () => {
  for (const name of names.filter((each) => exceptions[each] === undefined)) {
    const { block, receipts } = read(name)
    const last = receipts.findLastIndex(({ logs }) => logs.length > 0)
    const shortened = receipts.map((receipt, index) => {
      return index === last ? { ...receipt, logs: receipt.logs.slice(0, -1) } : receipt
    })
    assert.throws(() => verifyReceipts(block, shortened, 'verified'), { code: 'node_answer_invalid' }, name)
  }
})

function read(name: string): { block: RpcBlock; receipts: RpcReceipt[] } {
  const parse = (kind: string) => JSON.parse(readFileSync(join(folder, `${name}.${kind}.json`), 'utf8'))
  return { block: parse('block'), receipts: parse('receipts') }
}
