import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { MEME_WETH, sampleSet, sampleTrade } from '../../../../test/support/builders/market-samples.ts'
import { failure, originOf, request, startSession, TX } from '../../../../test/support/rigs/fake-session.ts'
import type { Refusal } from '../../access/metering/account-state.ts'
import type { Bill } from '../../access/metering/meter.ts'
import { formatCursor, type PlacedSet } from '../cursor.ts'

const LIQ = ['liq', MEME_WETH, 'eth']
const KLINE = ['kline', MEME_WETH, 'k1', 'eth']
const BILL: Bill = { cu: 50, charge: () => undefined, release: () => undefined }
const FROM = formatCursor(
  new Map([['eth', { after: { epoch: 'e', sequence: 3, link: 0 }, seq: 3, time: 3, published: 0 }]]),
)
/** Versions 4 and 5, then 6, which is published while the replays wait. */
const SETS = [4, 5, 6].map((seq) => sampleSet(seq, [{ type: 'trade', trade: sampleTrade() }]))

/** A log whose first read blocks until `finishFirst`: the first replay runs until then, the others wait. */
function start(options: Parameters<typeof startSession>[0] = {}) {
  const log = { end: 5, standing: 'held' as 'held' | 'dropped', reads: 0 }
  const first = Promise.withResolvers<void>()
  const session = startSession({
    limits: { maxReplays: 1 },
    view: { end: () => ({ after: { epoch: 'e', sequence: log.end, link: 0 }, seq: log.end, time: 5 }) },
    missed: {
      locate: async () => log.standing,
      page: async (_chain, place) => {
        if (++log.reads === 1) await first.promise
        return SETS.filter(({ seq }) => seq > place.after.sequence && seq <= log.end).map(
          (set): PlacedSet => ({
            origin: originOf(set),
            position: { epoch: 'e', sequence: set.seq, link: 0 },
            set,
          }),
        )
      },
    },
    ...options,
  })
  const finishFirst = async (): Promise<void> => {
    first.resolve()
    for (let nth = 0; nth < 20; nth++) await turn()
  }
  const subscribe = async (id: number, params: readonly unknown[]): Promise<void> => {
    await session.receive(request(id, 'subscribe', [...params, { from: FROM }]))
    await turn()
  }
  const sent = session.socket.sent as { id: number; result?: { recovered?: boolean; topic?: string } }[]
  const pushesOf = (wanted: number): number =>
    sent.filter(({ id, result }) => id === wanted && result?.topic !== undefined).length
  const recovered = (): number[] => sent.filter(({ result }) => result?.recovered).map(({ id }) => id)
  return { ...session, log, finishFirst, subscribe, pushesOf, recovered }
}

test('a replay that waits is acknowledged at once and misses nothing', async () => {
  const { subscribe, apply, log, finishFirst, pushesOf, recovered, receive, socket } = start()
  await subscribe(1, LIQ)
  await subscribe(2, TX)
  await receive(request(3, 'ping', []))
  assert.deepEqual(recovered(), [1, 2])
  assert.deepEqual(socket.sent.at(-1), { jsonrpc: '2.0', id: 3, result: 'pong' })
  log.end = 6
  apply(SETS[2] as (typeof SETS)[number])
  await turn()
  assert.deepEqual([log.reads, pushesOf(2)], [1, 0])
  await finishFirst()
  assert.equal(pushesOf(2), 3)
  log.end = 7
  apply(sampleSet(7, [{ type: 'trade', trade: sampleTrade() }]))
  assert.equal(pushesOf(2), 4)
})

test('unsubscribe and the end of the socket take waiting replays out of the queue', async () => {
  const { subscribe, finishFirst, pushesOf, receive, socket, log, hub } = start()
  await subscribe(1, LIQ)
  await subscribe(2, TX)
  await subscribe(3, KLINE)
  await receive(request(4, 'unsubscribe', TX))
  await finishFirst()
  // The candles were next, and read the log; swaps were not replayed.
  assert.deepEqual([log.reads, pushesOf(2)], [2, 0])
  const closing = start()
  await closing.subscribe(1, LIQ)
  await closing.subscribe(2, TX)
  closing.socket.readyState = 3
  closing.socket.emit('close')
  await closing.finishFirst()
  assert.deepEqual([closing.log.reads, closing.hub.size], [1, 0])
  assert.deepEqual([socket.closed, hub.size > 0], [[], true])
})

test('a cursor that expires, or units that run out, while a replay waits end its subscription only', async () => {
  const expired = start()
  await expired.subscribe(1, LIQ)
  await expired.subscribe(2, TX)
  expired.log.standing = 'dropped'
  await expired.finishFirst()
  const tooOld = 'the events after the cursor are not retained any more for eth'
  assert.deepEqual(expired.socket.sent.at(-1), failure(2, -32005, tooOld, { option: 'from' }))
  assert.deepEqual(expired.socket.closed, [])

  const meter = { left: 1 }
  const poor = start({
    meter: {
      open: (): Bill | Promise<Refusal> =>
        meter.left-- > 0 ? BILL : Promise.resolve({ reason: 'exhausted', retryMs: undefined }),
    },
  })
  await poor.subscribe(1, LIQ)
  await poor.subscribe(2, TX)
  assert.deepEqual(poor.recovered(), [1, 2])
  await poor.finishFirst()
  const usedUp = 'no credit units left this month; a replay needs some'
  assert.deepEqual(poor.socket.sent.at(-1), failure(2, -32006, usedUp, { option: 'from', cu: 50 }))
  assert.equal(poor.pushesOf(2), 0)
})
