import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { sampleSet } from '../../../../test/support/builders/market-samples.ts'
import type { LogPosition } from '../../../domain/log-position.ts'
import type { Standing } from '../../../log/chain-log.ts'
import { encodeChangeSet } from '../../../wire/change-codec.ts'
import { LogReplay } from './log-replay.ts'
import { ReplayBuffer } from './replay-buffer.ts'
import { findStart } from './replay-start.ts'

const at = (seq: number): LogPosition => ({ epoch: 'e', sequence: seq, link: seq })
const origin = (seq: number) => ({ after: at(seq), seq, time: 1_700_000_000 + seq })
const setOf = (seq: number) => sampleSet(seq, [])

/** A log with messages 11 to 20, of which the last three are in memory too. */
function start(pageBytes = 1_000_000) {
  const state = { reads: 0, open: 0, most: 0, gate: Promise.resolve(), end: 20, isAway: false }
  const log = {
    epoch: 'e',
    positionWhere: async () => at(10),
    locate: async ({ sequence: seq }: LogPosition) =>
      (seq < 10 ? 'dropped' : seq > 20 ? 'ahead' : 'held') as Standing,
    lastSequence: async () => {
      if (state.isAway) throw new Error('JetStream system temporarily unavailable')
      return state.end
    },
    async *read({ after }: { after: LogPosition | undefined }) {
      state.reads++
      state.most = Math.max(state.most, ++state.open)
      try {
        await state.gate
        for (let seq = (after?.sequence ?? 0) + 1; seq <= 20; seq++)
          yield { body: encodeChangeSet(setOf(seq)), position: at(seq) }
        await new Promise(() => undefined)
      } finally {
        state.open--
      }
    },
  }
  const recent = new ReplayBuffer(1_000_000)
  for (const seq of [18, 19, 20]) recent.add(origin(seq - 1), at(seq), encodeChangeSet(setOf(seq)))
  const { signal } = new AbortController()
  const missed = new LogReplay({
    recent: new Map([['eth', recent]]),
    logs: { get: () => log, ofEpoch: async () => log },
    end: () => origin(20),
    signal,
    pageBytes,
  })
  return { missed, state }
}

test('from memory if it is there, else from the log, to its end and no further', async () => {
  const { missed, state } = start()
  const fromMemory = await missed.page('eth', origin(18))
  assert.deepEqual([fromMemory.map(({ set }) => set.seq), state.reads], [[19, 20], 0])
  const fromLog = await missed.page('eth', origin(15))
  assert.deepEqual(
    fromLog,
    [16, 17, 18, 19, 20].map((seq) => ({ origin: origin(seq - 1), position: at(seq), set: setOf(seq) })),
  )
  assert.deepEqual([state.reads, state.open], [1, 0])
  assert.deepEqual(await missed.page('eth', origin(20)), [])
  assert.deepEqual(await Promise.all([9, 10, 17, 20, 21].map((seq) => missed.locate('eth', origin(seq)))), [
    'dropped',
    'held',
    'held',
    'held',
    'ahead',
  ])
})

test('a cursor beyond the head is refused for good, but not while the log lacks its tail', async () => {
  const { missed, state } = start()
  const topic = { name: 'kline', series: [], rejected: [] } as const
  const from = new Map([['eth', { ...origin(21), published: 0 }]])
  const begin = () => findStart(topic, from, { missed, events: { reach: async () => undefined } })
  await assert.rejects(begin(), { code: 'invalid_params', message: 'the cursor is beyond the head of eth' })
  state.end = 19
  await assert.rejects(begin(), { code: 'internal', data: { reason: 'log_truncated' } })
})

test('while NATS is away, readers are to retry, and the next one has its turn', async () => {
  const { missed, state } = start()
  state.isAway = true
  const unavailable = { code: 'store_unavailable', message: 'NATS unavailable' }
  await assert.rejects(missed.hasLostTail('eth'), unavailable)
  for (let read = 0; read < 10; read++) await assert.rejects(missed.page('eth', origin(15)), unavailable)
  state.isAway = false
  assert.equal((await missed.page('eth', origin(15))).length, 5)
})

test('in pages, so that a slow reader keeps nothing open', async () => {
  const { missed, state } = start(1)
  for (const seq of [11, 12, 13]) {
    const page = await missed.page('eth', origin(seq - 1))
    assert.deepEqual([page.map(({ set }) => set.seq), state.open], [[seq], 0])
  }
})

test('few read the log at once, and all have their turn', async () => {
  const { missed, state } = start()
  const gate = Promise.withResolvers<void>()
  state.gate = gate.promise
  const pages = Array.from({ length: 20 }, () => missed.page('eth', origin(15)))
  await turn()
  assert.equal(state.open, 4)
  gate.resolve()
  assert.ok((await Promise.all(pages)).every(({ length }) => length === 5))
  assert.deepEqual([state.most, state.reads, state.open], [4, 20, 0])
})
