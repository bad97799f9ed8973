import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { chainNode, createWaiting, natsServer, redisServer } from './waiting.ts'

function rig() {
  const lines: Record<string, unknown>[] = []
  let nowMs = 0
  const logger = pino(
    { base: null, timestamp: false },
    { write: (line) => void lines.push(JSON.parse(line)) },
  )
  const waiting = createWaiting(logger, redisServer('redis://user:secret@127.0.0.1:6379/1'), () => nowMs)
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { lines, waiting, pass }
}

const REFUSED = new Error('Redis unavailable', {
  cause: new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1:6379')]),
})

test('logs one line immediately, then one per minute, without passwords and stack traces', () => {
  const { lines, waiting, pass } = rig()
  for (let second = 0; second < 120; second++) {
    waiting.failed(REFUSED)
    pass(1_000)
  }
  const line = {
    level: 40,
    server: 'Redis',
    address: '127.0.0.1:6379',
    hint: 'start it with "redis-server", or set redis.url',
    reason: 'connect ECONNREFUSED 127.0.0.1:6379',
    msg: 'Waiting for Redis',
  }
  assert.deepEqual(lines, [line, line])
})

test('reports a recovered server once, and its next outage immediately', () => {
  const { lines, waiting } = rig()
  waiting.succeeded()
  waiting.failed(REFUSED)
  waiting.succeeded()
  waiting.succeeded()
  waiting.failed(REFUSED)
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['Waiting for Redis', 'Redis is available', 'Waiting for Redis'],
  )
})

test('shows only the hosts of URLs', () => {
  assert.equal(
    natsServer(['nats://a:b@one:4222', 'two:4222', 'tls://tok@three']).address,
    'one:4222, two:4222, three',
  )
  assert.equal(chainNode('eth', ['https://rpc.example/v1/APIKEY', '://']).address, 'rpc.example, not a URL')
})
