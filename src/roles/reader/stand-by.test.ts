import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOTHING_COMMITTED } from '../../../test/support/rigs/memory-state.ts'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import { Doorbell } from '../../chain/doorbell.ts'
import { ReaderIndex } from '../../chain/reader-index.ts'
import type { BlockRef } from '../../domain/envelope.ts'
import { type StandByParts, standBy } from './stand-by.ts'

const TAKEOVER_MS = 20
const hash = (letter: string): string => `0x${letter.repeat(64)}`
const HEAD = { number: 7, hash: hash('a') }

/** A standby whose log ends at `HEAD` and does not grow, with nodes that report `head`. */
async function watch(head: BlockRef, { until = 0, hasSeenOther = true } = {}) {
  const stop = new AbortController()
  const index = new ReaderIndex(NOTHING_COMMITTED)
  const block = { ...HEAD, parentHash: hash('0'), time: 7, transactions: [], facts: [] }
  index.apply({ kind: 'block', chain: 'test', ...block })
  const position = { epoch: 'e', sequence: 1, link: 0 }
  let looks = 0
  const log = {
    epoch: 'e',
    lastSequence: async () => 1,
    locate: async () => 'held',
    async *read({ signal }: { signal: AbortSignal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  const parts = {
    ...{ chain: 'test', log, index, logger: createTestCommon().logger, signal: stop.signal },
    store: { position, commit: () => undefined, clear: () => undefined },
    head: async () => {
      if (until > 0 && ++looks >= until) stop.abort()
      return head
    },
    ...{ doorbell: new Doorbell(), pollMs: 5, takeoverMs: TAKEOVER_MS, onProgress: () => undefined },
  } as unknown as StandByParts
  return standBy(parts, hasSeenOther)
}

test('a new block that no reader appends means a lost leader', async () => {
  assert.equal((await watch({ number: 8, hash: hash('b') }))?.reason, 'stalled')
})

test('a block of the same height with another hash does not: the leader may be on another branch', async () => {
  assert.equal(await watch({ number: 7, hash: hash('b') }, { until: 40 }), undefined)
})

test('a reader that is alone follows a fork of the same height immediately', async () => {
  const takeover = await watch({ number: 7, hash: hash('b') }, { hasSeenOther: false })
  assert.equal(takeover?.reason, 'alone')
})
