import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FetchedBlock } from '../../chain/source.ts'
import type { BlockEnvelope, RawLog, RawTransaction } from '../../domain/envelope.ts'
import { DifferenceList } from '../../domain/reconciliation.ts'
import { compareBlock } from './compare-block.ts'
import { sampleOf } from './reconcile-blocks.ts'

const log = (index: number, address: string): RawLog => ({
  ...{ index, address, topics: ['0x01'], data: Uint8Array.of(index) },
})
const place = { number: 7, hash: '0xaa', parentHash: '0x99', time: 1_000 }
const transaction = (...logs: RawLog[]): RawTransaction => ({ index: 0, hash: '0xf0', from: '0xee', logs })
const archived: BlockEnvelope = {
  ...{ kind: 'block', chain: 'eth', ...place, facts: [] },
  transactions: [transaction(log(0, '0xa'), log(1, '0xb'))],
}
// The reader leaves out logs that it does not need.
const fetched: FetchedBlock = {
  header: place,
  transactions: [transaction(log(0, '0xa'), log(1, '0xb'), log(2, '0xc'))],
}

function differences(block: BlockEnvelope, found: FetchedBlock, isEvm = true): string[] {
  const list = new DifferenceList()
  compareBlock(block, found, { registry: { poolOf: ({ address }) => address }, isEvm }, list)
  return list.examples.map(({ what }) => what)
}

test('a block agrees with the same block of a node', () => {
  assert.deepEqual(differences(archived, fetched), [])
  assert.deepEqual(differences(archived, fetched, false), [])
})

test('another block, transaction or log is named', () => {
  assert.deepEqual(differences(archived, { ...fetched, header: { ...place, hash: '0xab' } }), ['hash'])
  assert.deepEqual(differences(archived, { ...fetched, header: { ...place, time: 1_001 } }), ['time'])
  assert.deepEqual(differences(archived, { ...fetched, transactions: [] }), ['transaction 0xf0'])
  const other = {
    ...fetched,
    transactions: [{ ...(fetched.transactions[0] as RawTransaction), from: '0xed' }],
  }
  assert.deepEqual(differences(archived, other), ['sender of transaction 0xf0'])
  const changed = { ...archived, transactions: [transaction({ ...log(0, '0xa'), data: Uint8Array.of(9) })] }
  assert.deepEqual(differences(changed, fetched), ['log 0 of 0xf0'])
})

test('a missing log of a pool that the block mentions is named', () => {
  const twice: FetchedBlock = {
    header: place,
    transactions: [transaction(...[0, 1, 2].map((at) => log(at, '0xa')))],
  }
  const block = { ...archived, transactions: [transaction(log(0, '0xa'), log(2, '0xa'))] }
  assert.deepEqual(differences(block, twice), ['log 1 of 0xf0'])
})

test('log indexes count on EVM chains only', () => {
  const shifted = { ...fetched, transactions: [transaction({ ...log(0, '0xa'), index: 5 }, log(1, '0xb'))] }
  assert.deepEqual(differences(archived, shifted, false), [])
  assert.equal(differences(archived, shifted).length, 2)
})

test('a seed gives the same sample, without repetition, or everything', () => {
  assert.deepEqual(sampleOf('a', 5, 1_000), sampleOf('a', 5, 1_000))
  assert.notDeepEqual(sampleOf('a', 5, 1_000), sampleOf('b', 5, 1_000))
  assert.equal(new Set(sampleOf('a', 900, 1_000)).size, 900)
  assert.deepEqual(sampleOf('a', 10, 3), [1, 2, 3])
})
