import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOTHING_COMMITTED } from '../../../test/support/rigs/memory-state.ts'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import { OpenHistories } from '../../chain/open-histories.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { JournaledState } from '../../state/journaled-state.ts'
import { rankHistories } from './rank-histories.ts'

const COUNT = 1_203
const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`

function opened(): OpenHistories {
  const state = new JournaledState(NOTHING_COMMITTED)
  const histories = new OpenHistories(state)
  const about = { nameRaw: new Uint8Array(), symbolRaw: new Uint8Array(), decimals: 18, supplyRaw: 1n }
  for (let at = 1; at <= COUNT; at++) histories.apply({ type: 'token', address: address(at), ...about }, 10)
  state.sealBlock(10)
  return histories
}

test('all open histories are ranked, in several requests, and again after an engine was away', async () => {
  const { logger, lines } = createTestCommon()
  const stop = new AbortController()
  const sizes: number[] = []
  const rankings: (readonly string[])[] = []
  let calls = 0
  await rankHistories({
    histories: opened(),
    ask: async (addresses) => {
      calls++
      if (calls <= 2) throw new ChaintapeError('store_unavailable', 'no responder')
      sizes.push(addresses.length)
      return addresses.map((each) => {
        const at = Number(each)
        return at % 3 === 0 ? undefined : at % 3 === 1 ? 0n : 10n ** 30n + BigInt(at)
      })
    },
    rank: (addresses) => {
      rankings.push(addresses)
      if (rankings.length === 2) stop.abort()
    },
    ...{ logger, signal: stop.signal, everyMs: 1 },
  })
  assert.deepEqual(sizes.slice(0, 3), [500, 500, 203])
  const liquid = Array.from({ length: COUNT }, (_, at) => at + 1).filter((at) => at % 3 === 2)
  assert.deepEqual(rankings[0], liquid.toReversed().map(address))
  assert.deepEqual(rankings[1], rankings[0])
  assert.equal(lines.length, 1, 'the absence is logged once')
})
