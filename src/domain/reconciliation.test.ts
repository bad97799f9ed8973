import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DifferenceList,
  decodeReconciliation,
  encodeReconciliation,
  type Reconciliation,
} from './reconciliation.ts'

test('differences are counted without a limit, and shown with one', () => {
  const list = new DifferenceList()
  for (let count = 0; count < 1_000; count++) {
    list.add({ kind: 'row', where: 'w'.repeat(5_000), what: 'x', stored: 'a'.repeat(5_000), computed: 'b' })
  }
  list.add({ kind: 'block', where: 'block 1', what: 'hash', stored: 'a', computed: 'b' })
  assert.deepEqual(list.counts, { row: 1_000, document: 0, archive: 0, block: 1 })
  assert.equal(list.total, 1_001)
  assert.ok(JSON.stringify(list.examples).length < 20 * 1_000)
})

test('a report is read back, and one of another version is left out', () => {
  const found: Reconciliation = {
    ...{ at: 5, blocks: { from: 1, to: 2 }, nodeBlocks: 3, rows: 4, documents: 5, skipped: 6 },
    differences: { row: 1, document: 2, archive: 3, block: 4 },
    examples: [],
  }
  const { examples, ...rest } = found
  assert.deepEqual(decodeReconciliation(encodeReconciliation(found)), { ...rest, differences: 10 })
  const without = { ...found, blocks: undefined }
  assert.equal(decodeReconciliation(encodeReconciliation(without))?.blocks, undefined)
  assert.equal(decodeReconciliation(Buffer.from('{}')), undefined)
})
