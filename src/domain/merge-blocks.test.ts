import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlockEnvelope, RawLog, TokenFact } from './envelope.ts'
import { mergeBlocks } from './merge-blocks.ts'

const log = (index: number, address = '0xaa'): RawLog => ({
  index,
  address,
  topics: [],
  data: new Uint8Array(),
})
const token = (address: string): TokenFact => ({
  type: 'token',
  address,
  nameRaw: new Uint8Array(),
  symbolRaw: new Uint8Array(),
  decimals: 18,
  supplyRaw: undefined,
})

function block(logs: Readonly<Record<number, RawLog[]>>, facts: BlockEnvelope['facts'] = []): BlockEnvelope {
  const place = { chain: 'eth', number: 7, hash: '0x07', parentHash: '0x06', time: 70 }
  const transactions = Object.entries(logs).map(([index, own]) => ({
    index: Number(index),
    hash: `0x${index}`,
    from: '0xff',
    logs: own,
  }))
  return { kind: 'block', ...place, transactions, facts }
}

test('logs are merged by their index, and a log of both is that of the first block', () => {
  const first = block({ 1: [log(2), log(5)], 4: [log(9)] }, [token('0x01')])
  const added = block({ 0: [log(0)], 1: [log(1), log(5, '0xbb'), log(6)] }, [token('0x02')])
  const merged = mergeBlocks({ ...first, isOld: true }, added)
  const expected = block({ 0: [log(0)], 1: [log(1), log(2), log(5), log(6)], 4: [log(9)] })
  assert.deepEqual(merged, { ...expected, isOld: true, facts: [token('0x01'), token('0x02')] })
})

test('an empty supplement changes nothing', () => {
  const first = block({ 1: [log(2)] }, [token('0x01')])
  assert.deepEqual(mergeBlocks(first, block({})), first)
})
