import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JetStreamClient } from '@nats-io/jetstream'
import { createLogger } from '../lib/logger.ts'
import { LogPublisher } from './publisher.ts'

test('messages published in one turn of the event loop are sent together, in order', async () => {
  let turn = 0
  const sent: { turn: number; expected: number | undefined }[] = []
  const publish: JetStreamClient['publish'] = async (_subject, _payload, options) => {
    const expected = options?.expect?.lastSequence
    sent.push({ turn, expected })
    return { stream: 'S', domain: '', seq: (expected ?? 0) + 1, duplicate: false } as never
  }
  const publisher = new LogPublisher(
    {
      client: { publish } as JetStreamClient,
      stream: 'S',
      subject: 's',
      maxFrameBytes: 100,
      logger: createLogger('silent'),
      signal: new AbortController().signal,
      storedAt: async () => undefined,
    },
    { epoch: 'e', sequence: 0, link: 0 },
  )
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
