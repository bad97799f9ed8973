import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebSocket } from 'ws'
import { type Gap, GapError } from '../src/index.ts'
import { type Request, send } from './scripted-gateway.ts'
import { begin, gateway, open, PAIR, take, until } from './stream-rig.ts'

test('a gap is reported where it is, or ends the stream', async () => {
  const gaps: Gap[] = []
  const loses = (request: Request, socket: WebSocket): boolean => {
    const { from } = request.params.at(-1) as { from?: string }
    if (from === undefined) return false
    const reason = { code: -32_005, message: 'not retained any more' }
    gateway.acknowledge(socket, request, { cursor: String(gateway.count), recovered: false, reason })
    gateway.listen(socket, request, gateway.connections, gateway.count)
    return true
  }
  for (const onGap of [(gap: Gap) => void gaps.push(gap), undefined]) {
    gateway.intercept = () => false
    const stream = open({ onGap }).trades(PAIR, { name: 'mine' })
    const { first } = await begin(stream)
    gateway.trade()
    await first
    const id = gateway.subscribes.length
    gateway.intercept = loses
    gateway.cut()
    gateway.trade(2)
    await until('it has resumed', () => gateway.subscribes.length > id)
    gateway.trade()
    if (onGap !== undefined) {
      assert.deepEqual(await take(stream, 1), ['s4'])
      assert.deepEqual([gaps.length, gaps[0]?.stream, gaps[0]?.reason], [1, 'mine', 'cursor_too_old'])
      assert.deepEqual([gaps[0]?.lostAfter, gaps[0]?.resumedAt], ['1', '3'])
      stream.close()
    } else {
      await assert.rejects(stream.next(), (error) => error instanceof GapError && error.gap.lostAfter === '5')
      assert.deepEqual(await stream.next(), { done: true, value: undefined })
    }
  }
})

test('a cursor that expires while its replay waits, and one of another installation, are gaps', async () => {
  const rows = [
    { error: { code: -32_005, message: 'expired' }, reason: 'cursor_too_old', requests: 2 },
    {
      error: { code: -32_602, message: 'malformed', data: { option: 'from' } },
      reason: 'cursor_invalid',
      requests: 5,
    },
  ]
  for (const { error, reason, requests } of rows) {
    gateway.requests.length = 0
    gateway.intercept = ({ id, params }, socket) => {
      const isResumed = (params.at(-1) as { from?: string }).from !== undefined
      if (isResumed) send(socket, { id, error })
      return isResumed
    }
    const gaps: Gap[] = []
    const stream = open({ onGap: (gap) => void gaps.push(gap) }).trades(PAIR, { resumeFrom: 'old' })
    const first = stream.next()
    await until('it is subscribed anew', () => gateway.subscribes.length === requests)
    await until('the gateway has answered', () => {
      gateway.trade()
      return gaps.length > 0
    })
    await first
    assert.deepEqual([gaps[0]?.reason, gaps[0]?.lostAfter], [reason, 'old'])
    stream.close()
  }
})

test('a gap is not dropped with the states of a slow consumer', async () => {
  const gaps: Gap[] = []
  const series = [['a-eth', 'k1']] as const
  const stream = open().candlesOf(series, {
    ...{ resumeFrom: 'old', bufferSize: 2, onGap: (gap: Gap) => void gaps.push(gap) },
  })
  const pushes = [1, 2, 3, 4, 5].map((time) => ({
    ...{ topic: 'multi_kline', id: 'a-eth', interval: '1', revision: 1 },
    kline: { usd: { time, open: '1', high: '1', low: '1', close: '1', volume: '1' } },
  }))
  gateway.intercept = (request, socket) => {
    // Pushes of before, then the gap, then more pushes than the buffer has room for.
    gateway.acknowledge(socket, request, { cursor: '0', recovered: true })
    pushes.slice(0, 2).forEach((result, index) => {
      send(socket, { id: request.id, result, cursor: '1', seq: index + 1 })
    })
    gateway.acknowledge(socket, request, { cursor: '2', recovered: false })
    pushes.slice(2).forEach((result, index) => {
      send(socket, { id: request.id, result, cursor: '3', seq: index + 3 })
    })
    return true
  }
  const first = await stream.next()
  await until('states were dropped', () => stream.dropped > 0)
  const second = await stream.next()
  assert.deepEqual([first.value?.time, second.value?.time, gaps.length], [1, 5, 1])
})

test('a stream of several subscriptions has no single cursor', async () => {
  const streams = open({ limits: { messagesPerSecond: 1_000, multiKlinePairs: 1 } })
  const series = [
    ['a-eth', 'k1'],
    ['b-eth', 'k1'],
  ] as const
  assert.throws(() => streams.candlesOf(series, { resumeFrom: '1' }), TypeError)
})
