import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  allSolanaTransactions,
  base64Transactions,
  hasSolanaRecordings,
  jsonTransactions,
} from '../support/recorded/recorded-solana.ts'

test('both encodings of a transaction are parsed alike', { skip: !hasSolanaRecordings }, () => {
  const json = new Map(jsonTransactions().map(({ transaction }) => [transaction.signature, transaction]))
  const base64 = base64Transactions()
  assert.equal(base64.length, 125)
  for (const { name, transaction } of base64) {
    assert.deepEqual(plain(transaction), plain(json.get(transaction.signature)), name)
  }
})

test('every instruction is nested where its caller says', { skip: !hasSolanaRecordings }, () => {
  const all = allSolanaTransactions()
  assert.equal(all.length, 138)
  assert.equal(all.filter(({ transaction }) => transaction.isFailed).length, 15)
  for (const { name, transaction } of all) {
    let height = 0
    for (const { stackHeight } of transaction.instructions) {
      assert.ok(stackHeight >= 1 && stackHeight <= height + 1, `${name}: ${stackHeight} after ${height}`)
      height = stackHeight
    }
    assert.equal(transaction.keys.length, transaction.postBalances.length, name)
  }
})

/** Buffers and plain byte arrays count as equal. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}
