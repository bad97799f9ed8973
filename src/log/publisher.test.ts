import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream'
import { createLogger } from '../lib/logger.ts'
import { LogPublisher, type PublisherParts } from './publisher.ts'
import { TailLost } from './tail-lost.ts'

test('messages published in one turn of the event loop are sent together, in order', async () => {
  let turn = 0
  const sent: { turn: number; expected: number | undefined }[] = []
  const publish: JetStreamClient['publish'] = async (_subject, _payload, options) => {
    const expected = options?.expect?.lastSequence
    sent.push({ turn, expected })
    return { stream: 'S', domain: '', seq: (expected ?? 0) + 1, duplicate: false } as never
  }
  const publisher = publisherOf(publish)
  const nextTurn = async (): Promise<void> => {
    await new Promise(setImmediate)
    turn += 1
  }
  const message = new Uint8Array(150)
  const first = publisher.publish(message)
  // Like the reader: the next message follows a few promises later, in the same turn.
  await Promise.resolve()
  const second = publisher.publish(message)
  await nextTurn()
  const third = publisher.publish(message)
  await nextTurn()
  assert.deepEqual(
    (await Promise.all([first, second, third])).map(({ sequence: seq }) => seq),
    [3, 6, 9],
  )
  assert.deepEqual(
    sent.map(({ expected }) => expected),
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
  )
  const turns = sent.map((each) => each.turn)
  assert.equal(new Set(turns.slice(0, 6)).size, 1)
  assert.equal(new Set(turns).size, 2)
})

test('frames in flight that were lost are sent again in order, each once, and later ones follow them', async () => {
  const stored: number[] = []
  let sent = 0
  const publish: JetStreamClient['publish'] = async (_subject, _payload, options) => {
    const nth = ++sent
    const expected = options?.expect?.lastSequence ?? 0
    await new Promise(setImmediate)
    if (nth <= 64) throw new Error('no responders')
    if (expected !== stored.length)
      throw new JetStreamApiError({ code: 400, err_code: 10_071, description: 'wrong last sequence' })
    stored.push(expected + 1)
    return { stream: 'S', domain: '', seq: expected + 1, duplicate: false } as never
  }
  const publisher = publisherOf(publish)
  const first = Array.from({ length: 64 }, () => publisher.publish(new Uint8Array(10)))
  while (sent < 64) await new Promise(setImmediate)
  const second = Array.from({ length: 64 }, () => publisher.publish(new Uint8Array(10)))
  await first.at(-1)
  const third = Array.from({ length: 64 }, () => publisher.publish(new Uint8Array(10)))
  await Promise.all([...first, ...second, ...third])
  assert.deepEqual(
    stored,
    Array.from({ length: 192 }, (_, at) => at + 1),
  )
  assert.equal(sent, 64 + 192)
})

test('frames that wait for lost ones fail with them', async () => {
  let isFenced = false
  const publish: JetStreamClient['publish'] = async () => {
    await new Promise(setImmediate)
    if (!isFenced) throw new Error('no responders')
    throw new JetStreamApiError({ code: 400, err_code: 10_071, description: 'wrong last sequence' })
  }
  const publisher = publisherOf(publish, undefined, async () => ({ id: 'another:0:0', checksum: 0 }))
  const first = publisher.publish(new Uint8Array(10))
  first.catch(() => undefined)
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  const second = publisher.publish(new Uint8Array(10))
  isFenced = true
  for (const published of [first, second]) await assert.rejects(published, { code: 'fenced' })
})

test('a publisher whose log is gone says so, although the server does not respond at once', async () => {
  const publish: JetStreamClient['publish'] = () => Promise.reject(new Error('no responders'))
  let looks = 0
  const publisher = publisherOf(publish, async () => {
    if (++looks === 1) throw new Error('timeout')
    return true
  })
  const published = Array.from({ length: 3 }, () => publisher.publish(new Uint8Array(10)))
  for (const { status, ...rest } of await Promise.allSettled(published)) {
    assert.equal(status, 'rejected')
    assert.ok('reason' in rest && rest.reason instanceof TailLost, String(Object.values(rest)))
  }
})

test('frames of a replicated stream are sent one by one, without an expected id; none follows a fenced one', async () => {
  const sent: { readonly expected: number; readonly id: string | undefined }[] = []
  let underWay = 0
  const publish: JetStreamClient['publish'] = async (_subject, _payload, options) => {
    const { lastSequence: expected = 0, lastMsgID: id } = options?.expect ?? {}
    sent.push({ expected, id })
    assert.equal(++underWay, 1)
    await new Promise(setImmediate)
    underWay--
    if (expected === 3)
      throw new JetStreamApiError({ code: 400, err_code: 10_071, description: 'wrong last sequence' })
    return { stream: 'S', domain: '', seq: expected + 1, duplicate: false } as never
  }
  const another = async () => ({ id: 'another:3:0', checksum: 0 })
  const publisher = publisherOf(publish, undefined, another, true)
  const published = Array.from({ length: 6 }, () => publisher.publish(new Uint8Array(10)))
  const outcomes = (await Promise.allSettled(published)).map(({ status }) => status)
  assert.deepEqual(outcomes, [...Array(3).fill('fulfilled'), ...Array(3).fill('rejected')])
  assert.deepEqual(
    sent,
    [0, 1, 2, 3].map((expected) => ({ expected, id: undefined })),
  )
})

function publisherOf(
  publish: JetStreamClient['publish'],
  isLost?: () => Promise<boolean>,
  storedAt: PublisherParts['storedAt'] = async () => undefined,
  isReplicated = false,
): LogPublisher {
  return new LogPublisher(
    {
      client: { publish } as JetStreamClient,
      ...{ stream: 'S', subject: 's', maxFrameBytes: 100, isReplicated, logger: createLogger('silent') },
      signal: new AbortController().signal,
      storedAt,
      ...(isLost && { isLost }),
    },
    { epoch: 'e', sequence: 0, link: 0 },
  )
}
