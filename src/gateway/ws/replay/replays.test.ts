import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Grant } from '../../access/keys/key-ring.ts'
import type { Refusal } from '../../access/metering/account-state.ts'
import type { Bill } from '../../access/metering/meter.ts'
import { DEFAULT_WS_LIMITS, type WsLimits } from '../limits.ts'
import { RpcFault } from '../rpc-fault.ts'
import { type Replay, Replays } from './replays.ts'

const grantOf = (keyId: string, limits: Partial<WsLimits> = {}): Grant => ({
  keyId,
  plan: {
    ...{ name: 'default', requestsPerSecond: 1, burst: 1, cuPerMonth: 1, historyReads: 1 },
    sockets: { ...DEFAULT_WS_LIMITS, ...limits, maxConnections: 1 },
  },
  isValid: () => true,
})

/** A meter with so many units, and what became of them. */
function start(units: number, reason: Refusal['reason'] = 'exhausted') {
  const state = { left: units, charged: 0 }
  const replays = new Replays({
    open: (_grant, _operation, cu): Bill | Promise<Refusal> => {
      if (state.left < cu) return Promise.resolve({ reason, retryMs: undefined })
      state.left -= cu
      return {
        cu,
        charge: () => {
          state.charged += cu
        },
        release: () => {
          state.left += cu
        },
      }
    },
  })
  return { replays, state }
}

const isFault = (code: string, data: object) => (error: unknown) => {
  assert.ok(error instanceof RpcFault)
  assert.deepEqual([error.code, error.data], [code, data])
  return true
}

test('50 CU for each started thousand of events, nothing for none', async () => {
  for (const [pages, cost] of [
    [[], 0],
    [[0, 0], 0],
    [[1], 50],
    [[600, 400], 50],
    [[600, 401], 100],
    [[30_000], 1_500],
  ] as const) {
    const { replays, state } = start(10_000)
    const replay = await replays.begin(grantOf('a'), true)
    for (const events of pages) await replay.charge(events)
    replay.end()
    replay.end()
    assert.deepEqual([state.charged, state.left], [cost, 10_000 - cost], `${pages}`)
  }
})

test('a key runs two replays at a time; further ones wait in order, another key has its own', async () => {
  const { replays } = start(1_000_000)
  const started: number[] = []
  const begin = async (nth: number): Promise<Replay> => {
    const replay = await replays.begin(grantOf('a'), true)
    void Promise.resolve(replay.turn).then(() => started.push(nth))
    return replay
  }
  const all: Replay[] = []
  for (let nth = 0; nth < 6; nth++) all.push(await begin(nth))
  const [first, second, third, fourth, fifth, sixth] = all as [Replay, Replay, Replay, Replay, Replay, Replay]
  assert.deepEqual(started, [0, 1])
  assert.equal((await replays.begin(grantOf('b'), true)).turn, undefined)
  // Nothing to read, no slot taken.
  assert.equal((await replays.begin(grantOf('a'), false)).turn, undefined)
  first.end()
  first.end()
  await turn()
  assert.deepEqual(started, [0, 1, 2])
  // It leaves the queue and its slot to the next.
  fourth.end()
  third.end()
  await turn()
  assert.deepEqual(started, [0, 1, 2, 3, 4])
  const last = await begin(6)
  second.end()
  await turn()
  assert.deepEqual(started, [0, 1, 2, 3, 4, 5])
  for (const each of [fifth, sixth, last]) each.end()
  assert.equal((await begin(7)).turn, undefined)
})

test('the queue of replays is limited like the subscriptions of a connection', async () => {
  const { replays } = start(1_000_000)
  const grant = grantOf('a', { maxSubscriptions: 3 })
  const all = await Promise.all([1, 2, 3, 4, 5].map(() => replays.begin(grant, true)))
  const tooMany = isFault('limit_exceeded', { limit: 'replays', max: 2, max_waiting: 3 })
  await assert.rejects(replays.begin(grant, true), tooMany)
  all[4]?.end()
  await replays.begin(grant, true)
  await assert.rejects(replays.begin(grant, true), tooMany)
})

test('without units a replay does not begin, or ends; it leaves its place', async () => {
  const { replays, state } = start(49)
  const exhausted = isFault('quota_exhausted', { option: 'from', cu: 50 })
  for (let attempt = 0; attempt < 3; attempt++)
    await assert.rejects(replays.begin(grantOf('a'), true), exhausted)
  state.left = 100
  const replay = await replays.begin(grantOf('a'), true)
  await replay.charge(1_500)
  await replay.charge(500)
  await assert.rejects(replay.charge(1), exhausted)
  assert.deepEqual([state.charged, state.left], [100, 0])
  const down = start(0, 'unavailable').replays
  await assert.rejects(
    down.begin(grantOf('a'), true),
    isFault('internal', { reason: 'metering_unavailable' }),
  )
})
