import assert from 'node:assert/strict'
import test, { mock } from 'node:test'
import { ack, failure, request, startSession, TX } from '../../../../test/support/rigs/fake-session.ts'
import { TokenBucket } from '../../access/metering/token-bucket.ts'

test('a session ends when its key does, and leaves its place', () => {
  let isValid = true
  const { session, socket, connections, grant } = startSession({ grant: { isValid: () => isValid } })
  assert.deepEqual([connections.of('somebody'), connections.hasRoomFor(grant)], [[session], false])
  session.endIfKeyEnded()
  session.tick()
  assert.deepEqual(socket.closed, [])
  isValid = false
  session.tick()
  assert.deepEqual(socket.closed, [[4403, 'the API key has expired or was revoked']])
  assert.deepEqual([connections.of('somebody'), connections.hasRoomFor(grant)], [[], true])
})

test('after a late auth, the limits of the plan apply', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { session, socket, connections, receive } = startSession({ isAuthorised: false })
    assert.deepEqual(connections.of('somebody'), [])
    await receive(request(0, 'auth', ['right']))
    // Once more is no second connection.
    await receive(request(1, 'auth', ['right']))
    assert.deepEqual(socket.sent, [ack(0, 'auth', []), ack(1, 'auth', [])])
    assert.deepEqual(connections.of('somebody'), [session])
    mock.timers.tick(10_000)
    assert.deepEqual(socket.closed, [])
  } finally {
    mock.timers.reset()
  }
})

test('auth does not fill the message bucket again, with the same key or with another', async () => {
  const limits = { messagesPerSecond: 3 }
  const { socket, receive, clock } = startSession({ limits, isAuthorised: false })
  for (let id = 1; id <= 12; id++) await receive(request(id, id % 2 === 1 ? 'auth' : 'ping', ['right']))
  const answered = () =>
    socket.sent.filter((each) => 'result' in (each as object)).map((each) => (each as { id: number }).id)
  assert.deepEqual(answered(), [1, 2, 3])
  clock.now += 1_000
  for (let id = 13; id <= 20; id++) await receive(request(id, 'auth', ['right']))
  assert.deepEqual(answered(), [1, 2, 3, 13, 14, 15])
})

test('an expired key and one connection too many get different errors', async () => {
  const ended = startSession({ isAuthorised: false })
  await ended.receive(request(0, 'auth', ['old']))
  const message = 'the API key has expired or was revoked'
  assert.deepEqual(ended.socket.sent, [failure(0, -32_001, message, { pointer: '/params/0' })])
  assert.deepEqual(ended.socket.closed, [[4401, 'invalid API key']])
  const many = startSession({ isAuthorised: false })
  many.connections.add(many.grant, startSession().session)
  await many.receive(request(0, 'auth', ['right']))
  const limit = { limit: 'connections', max: 1 }
  assert.deepEqual(many.socket.sent, [
    failure(0, -32_002, 'the key already has 1 connections; close one first', limit),
  ])
  assert.deepEqual(many.socket.closed, [[4429, 'too many connections']])
})

test('a message above the limit closes the socket unread', async () => {
  const { socket, receive } = startSession({ limits: { maxMessageBytes: 50 } })
  await receive(request(1, 'subscribe', TX))
  assert.deepEqual([socket.sent, socket.closed], [[], [[1009, 'message too large']]])
})

test('unauthenticated connections have a smaller message limit', async () => {
  const { socket, receive } = startSession({ isAuthorised: false, limits: { maxStrangerBytes: 50 } })
  await receive(request(1, 'subscribe', TX))
  assert.deepEqual([socket.sent, socket.closed], [[], [[1009, 'message too large']]])
})

test('a client that continues after many refusals is disconnected and ignored', async () => {
  const limits = { messagesPerSecond: 1, refusalsAtOnce: 2, refusalsPerSecond: 1 }
  const { socket, clock, receive } = startSession({ limits })
  for (let id = 1; id <= 3; id++) await receive(request(id, 'ping', []))
  clock.now += 500
  assert.deepEqual(socket.closed, [])
  await receive(request(4, 'ping', []))
  assert.deepEqual([socket.closed, socket.isPaused], [[[4429, 'too many messages']], true])
  clock.now += 10_000
  await receive(request(5, 'ping', []))
  assert.deepEqual(socket.sent.map((answer) => (answer as { id: number }).id).sort(), [1, 2, 3])
})

test('a long message that is refused counts as several', async () => {
  const { socket, receive } = startSession({ limits: { messagesPerSecond: 1, refusalsAtOnce: 4 } })
  await receive(request(1, 'ping', []))
  await receive(request(2, 'ping', ['x'.repeat(3_000)]))
  assert.deepEqual(socket.closed, [[4429, 'too many messages']])
})

test('pings are answered as often as other messages, and count with them', () => {
  const { socket } = startSession({ limits: { messagesPerSecond: 2, refusalsAtOnce: 1 } })
  for (const data of ['a', 'b', 'c']) socket.emit('ping', Buffer.from(data))
  assert.deepEqual([socket.pongs, socket.closed], [['a', 'b'], []])
  socket.emit('ping', Buffer.from('d'))
  assert.deepEqual([socket.pongs, socket.closed], [['a', 'b'], [[4429, 'too many messages']]])
})

test('a bucket holds a burst, refills at its rate, and knows when', () => {
  let now = 0
  const bucket = new TokenBucket(2, () => now, 5)
  assert.deepEqual(
    Array.from({ length: 6 }, () => bucket.take()),
    [true, true, true, true, true, false],
  )
  assert.deepEqual([bucket.left, bucket.secondsUntil(1), bucket.secondsUntilFull], [0, 1, 3])
  now = 500
  assert.deepEqual([bucket.take(), bucket.take()], [true, false])
  now = 60_000
  assert.equal(bucket.take(), true)
  assert.equal(bucket.left, 4)
  // What is given back can be taken again, but no bucket holds more than it can.
  bucket.giveBack(3)
  assert.equal(bucket.left, 5)
  // Another rate does not give back what was taken.
  assert.equal(bucket.take(4), true)
  bucket.setRate(10, 10)
  assert.equal(bucket.left, 1)
  now += 100
  assert.deepEqual([bucket.take(2), bucket.take()], [true, false])
  now += 10_000
  bucket.setRate(1)
  assert.equal(bucket.left, 1)
})
