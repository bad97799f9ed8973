import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SubscribeUpdateBlock } from '@triton-one/yellowstone-grpc'
import { base58Of } from '../../../../test/support/rigs/solana-ledger.ts'
import { encodeUpdate, toBlockMessage } from '../../../../test/support/rigs/yellowstone-messages.ts'
import { decodeBlock } from './decode-block.ts'
import { decodeUpdate } from './update.ts'

const HEADER = { number: 90, hash: base58Of('block'), parentHash: base58Of('parent'), time: 1_750_000_000 }
const MESSAGE = toBlockMessage(HEADER, 100, 98, [])

function decode(changes: Partial<SubscribeUpdateBlock>, timeOf: (hash: string) => number | undefined) {
  const update = decodeUpdate(encodeUpdate({ block: { ...MESSAGE, ...changes } }))
  assert.ok(update.kind === 'block')
  return decodeBlock(update.message, () => [], timeOf)
}

describe('the header of a streamed block', () => {
  test('is that of the message', () => {
    const block = decode({}, () => assert.fail('the time is there'))
    assert.deepEqual(block?.header, { ...HEADER, slot: 100, parentSlot: 98 })
  })

  test('has the time of its parent if it has none', () => {
    const times = new Map([[HEADER.parentHash, 1_749_999_999]])
    const block = decode({ blockTime: undefined }, (hash) => times.get(hash))
    assert.equal(block?.header.time, 1_749_999_999)
  })

  test('is left to JSON-RPC if neither has one', () => {
    assert.equal(
      decode({ blockTime: undefined }, () => undefined),
      undefined,
    )
  })

  test('may have the time or height zero, which has no field', () => {
    const block = decode({ blockTime: { timestamp: '0' }, blockHeight: { blockHeight: '0' } }, () => 1)
    assert.deepEqual([block?.header.time, block?.header.number], [0, 0])
  })

  test('without a height is invalid', () => {
    assert.throws(() => decode({ blockHeight: undefined }, () => 1), { code: 'node_answer_invalid' })
  })
})
