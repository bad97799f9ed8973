import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection, nanos } from '@nats-io/transport-node'
import type { LogPosition } from '../../src/domain/log-position.ts'
import type { ChainLog } from '../../src/log/chain-log.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { LogPublisher } from '../../src/log/publisher.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { FIRST_LINK, frameChecksum, splitMessage } from '../../src/wire/frame.ts'
import { bodies, hasCode, MAX_FRAME_BYTES, readAll, text } from '../support/rigs/log-reading.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

let stack: Stack
let raw: NatsConnection
let manager: JetStreamManager
let logs: Logs
let prefixes = 0

const options = (prefix: string, maxFrameBytes = MAX_FRAME_BYTES) => {
  return { urls: stack.natsUrls, prefix, replicas: 1, max_frame_bytes: maxFrameBytes }
}

before(async () => {
  stack = await startStack({ services: ['nats'] })
  raw = await connect({ servers: stack.natsUrls, maxReconnectAttempts: -1, reconnectTimeWait: 100 })
  manager = await jetstreamManager(raw)
  logs = await connectLogs(options('log'), createTestCommon())
})

after(async () => {
  await logs?.close()
  await raw?.close()
  await stack?.stop()
})

/** A log of its own for each test. */
async function newLog(): Promise<{ log: ChainLog; chain: string; stream: string; subject: string }> {
  const chain = `chain${prefixes++}`
  const log = await logs.open('BLOCKS', chain)
  return { log, chain, stream: `log_BLOCKS_${chain}`, subject: `log.blocks.${chain}` }
}

/** A writer at a given position, which never receives the first acknowledgement of a message. */
function deafPublisherAt(name: { stream: string; subject: string }, last: LogPosition): LogPublisher {
  const { logger, shutdown } = createTestCommon()
  const real = jetstream(raw)
  const heard = new Set<number>()
  const publish: JetStreamClient['publish'] = async (subject, payload, options) => {
    const ack = await real.publish(subject, payload, options)
    const expected = options?.expect?.lastSequence ?? -1
    if (heard.has(expected)) return ack
    heard.add(expected)
    throw new Error('timeout')
  }
  const storedAt = async (seq: number) => {
    const stored = await manager.streams.getMessage(name.stream, { seq }).catch(() => null)
    return stored ? { id: stored.header.get('Nats-Msg-Id'), checksum: frameChecksum(stored.data) } : undefined
  }
  const client = { publish } as JetStreamClient
  const parts = { ...name, client, maxFrameBytes: MAX_FRAME_BYTES, logger, signal: shutdown.signal }
  return new LogPublisher({ ...parts, isReplicated: false, storedAt }, last)
}

describe('writing', () => {
  test('messages come back as they were published, from any position', async () => {
    const { log } = await newLog()
    assert.deepEqual([await log.lastSequence(), await log.lastMessage()], [0, undefined])
    const publisher = await log.openPublisher()
    const positions: LogPosition[] = []
    for (const body of ['one', '', 'three']) positions.push(await publisher.publish(text(body)))
    assert.deepEqual(await bodies(log), ['one', '', 'three'])
    assert.deepEqual(
      (await readAll(log)).map(({ position }) => position),
      positions,
    )
    assert.deepEqual(await bodies(log, positions[0]), ['', 'three'])
    assert.deepEqual(await bodies(log, positions[2]), [])
  })

  test('an announcement is read with its message, and is no part of it', async () => {
    const { log } = await newLog()
    const publisher = await log.openPublisher()
    const large = randomBytes(3_500_000)
    const plain = await publisher.publish(text('plain'))
    await publisher.publish(large, 1_763_420_000_123)
    await publisher.publish(text('plain'))
    await publisher.publish(text('small'), 1_763_420_000_456)
    const read = await readAll(log)
    assert.deepEqual(
      read.map(({ announcedAt }) => announcedAt),
      [undefined, 1_763_420_000_123, undefined, 1_763_420_000_456],
    )
    assert.deepEqual(Buffer.from(read[1]?.body ?? []), large)
    // The checksums of the frames do not depend on it.
    const { log: other } = await newLog()
    const without = await other.openPublisher()
    assert.equal((await without.publish(text('plain'))).link, plain.link)
    await without.publish(large)
    await without.publish(text('plain'))
    assert.equal((await without.publish(text('small'))).link, publisher.last.link)
  })

  test('the second of two writers is fenced; nothing is lost or duplicated', async () => {
    const { log } = await newLog()
    const [first, second] = await Promise.all([log.openPublisher(), log.openPublisher()])
    await first.publish(text('a1'))
    await assert.rejects(second.publish(text('b1')), hasCode('fenced'))
    await first.publish(text('a2'))
    await assert.rejects(second.publish(text('b1')), hasCode('fenced'))
    assert.deepEqual(await bodies(log), ['a1', 'a2'])

    const rivals = await Promise.all([log.openPublisher(), log.openPublisher()])
    const results = await Promise.allSettled(rivals.map((rival, at) => rival.publish(text(`c${at}`))))
    const winner = results.findIndex(({ status }) => status === 'fulfilled')
    assert.deepEqual(await bodies(log), ['a1', 'a2', `c${winner}`])
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 1)
  })

  test('a second writer is fenced off even if it writes the same', async () => {
    const { log } = await newLog()
    const [first, second] = await Promise.all([log.openPublisher(), log.openPublisher()])
    await first.publish(text('one'))
    await assert.rejects(second.publish(text('one')), hasCode('fenced'))
    assert.deepEqual(await bodies(log), ['one'])
  })

  for (const [when, window] of [
    ['while the server remembers its id', undefined],
    ['after the server has forgotten its id', nanos(100)],
  ] as const) {
    test(`what was stored without our hearing of it is recognised, ${when}`, async () => {
      const { log, ...name } = await newLog()
      if (window !== undefined) await manager.streams.update(name.stream, { duplicate_window: window })
      const publisher = deafPublisherAt(name, { epoch: log.epoch, sequence: 0, link: FIRST_LINK })
      const large = randomBytes(250_000)
      await publisher.publish(text('one'))
      await publisher.publish(large)
      const last = await publisher.publish(text('three'))
      assert.deepEqual(
        (await readAll(log)).map(({ body }) => body.length),
        [3, 250_000, 5],
      )
      assert.equal(last.sequence, await log.lastSequence())
    })
  }

  test('a large message is split, and put together again', async () => {
    const { log } = await newLog()
    const publisher = await log.openPublisher()
    const large = randomBytes(5_000_000)
    await publisher.publish(text('before'))
    const position = await publisher.publish(large)
    assert.ok(position.sequence >= 50, `in ${position.sequence - 1} frames`)
    await publisher.publish(text('after'))
    const messages = await readAll(log)
    assert.deepEqual(
      messages.map(({ body }) => body.length),
      [6, 5_000_000, 5],
    )
    assert.equal(Buffer.compare(messages[1]?.body ?? Buffer.alloc(0), large), 0)
    assert.deepEqual(messages[1]?.position, position)
    assert.deepEqual(await bodies(log, position), ['after'])
  })

  test('a frame limit above what the server takes is lowered to that', async () => {
    const wide = await connectLogs(options('wide', 50_000_000), createTestCommon())
    try {
      const log = await wide.open('CHANGES', 'chain')
      const publisher = await log.openPublisher()
      await publisher.publish(randomBytes(3_500_000))
      assert.equal((await log.lastMessage())?.body.length, 3_500_000)
    } finally {
      await wide.close()
    }
  })
})

describe('a writer that died between two parts', () => {
  async function halfWritten(parts: number) {
    const { log, stream, subject } = await newLog()
    await (await log.openPublisher()).publish(text('before'))
    const before = await log.lastMessage()
    assert.ok(before)
    const frames = splitMessage(randomBytes(350_000), before.position.link, MAX_FRAME_BYTES)
    assert.equal(frames.length, 4)
    for (const frame of frames.slice(0, parts)) await jetstream(raw).publish(subject, frame)
    return { log, stream, before }
  }

  test('leaves a partial tail that readers skip until the next writer continues', async () => {
    for (const parts of [1, 3]) {
      const { log, before } = await halfWritten(parts)
      assert.deepEqual(await log.lastMessage(), before)
      assert.equal(
        await log.lastSequence(),
        before.position.sequence,
        'a reader waits for nothing that never comes',
      )
      assert.deepEqual(await bodies(log), ['before'])

      const publisher = await log.openPublisher()
      const large = randomBytes(350_000)
      const position = await publisher.publish(large)
      assert.equal(position.sequence, 1 + parts + 4)
      assert.deepEqual((await log.lastMessage())?.position, position)
      await publisher.publish(text('after'))
      assert.deepEqual(await bodies(log), ['before', large.toString(), 'after'])
      assert.deepEqual(await bodies(log, before.position), [large.toString(), 'after'])
    }
  })

  test('at the very beginning of a log', async () => {
    const { log, subject } = await newLog()
    const [frame] = splitMessage(randomBytes(150_000), FIRST_LINK, MAX_FRAME_BYTES)
    assert.ok(frame)
    await jetstream(raw).publish(subject, frame)
    assert.deepEqual([await log.lastMessage(), await log.lastSequence()], [undefined, 0])
    await (await log.openPublisher()).publish(text('first'))
    assert.deepEqual(await bodies(log), ['first'])
  })
})

describe('a log that is not what it was', () => {
  const readFrom = (log: ChainLog, after: LogPosition) => () => readAll(log, after, Number.MAX_SAFE_INTEGER)

  test('made anew', async () => {
    const { log, chain, stream } = await newLog()
    const position = await (await log.openPublisher()).publish(text('one'))
    await manager.streams.delete(stream)
    const renewed = await logs.open('BLOCKS', chain)
    await (await renewed.openPublisher()).publish(text('one'))
    assert.notEqual(renewed.epoch, log.epoch)
    await assert.rejects(readFrom(renewed, position), hasCode('log_epoch_changed'))
    await assert.rejects(readFrom(log, position), hasCode('log_epoch_changed'))
  })

  test('made anew under a reader', async () => {
    const { log, chain, stream } = await newLog()
    const publisher = await log.openPublisher()
    await publisher.publish(text('one'))
    const reading = log.read({ after: undefined, signal: new AbortController().signal })
    await reading.next()
    const next = assert.rejects(reading.next(), hasCode('log_epoch_changed'))
    await manager.streams.delete(stream)
    await logs.open('BLOCKS', chain)
    await next
  })

  test('shorter than it was: read on once its tail is restored, refused if the tail became another one', async () => {
    const { log, chain } = await newLog()
    const publisher = await log.openPublisher()
    const one = await publisher.publish(text('one'))
    const [lost, other] = ['two', 'zwei'].map((body) => splitMessage(text(body), one.link, 1_000)[0])
    assert.ok(lost && other)
    const two = { epoch: log.epoch, sequence: 2, link: frameChecksum(lost) }
    const { signal } = new AbortController()
    const waiting = log.read({ after: two, signal })
    const restored = waiting.next()
    const replaced = log.read({ after: { ...two, link: frameChecksum(other) }, signal }).next()
    const refused = assert.rejects(replaced, hasCode('log_damaged'))
    await assert.rejects(log.read({ after: one, signal, until: 2 }).next(), hasCode('log_truncated'))
    assert.equal(await log.holds(two), false)
    const retained = new Map([[2, lost]])
    const outbox = {
      add: () => undefined,
      get: (_epoch: string, seq: number) => retained.get(seq),
      oldest: () => undefined,
      flushed: async () => undefined,
    }
    const writer = await (await logs.open('BLOCKS', chain, outbox)).openPublisher()
    assert.deepEqual(writer.last, two)
    await writer.publish(text('three'))
    assert.deepEqual(Buffer.from((await restored).value?.body ?? []).toString(), 'three')
    await waiting.return()
    await refused
  })

  test('restored by two writers at a time: the later one continues where the other stopped', async () => {
    const { log, chain } = await newLog()
    const other = await log.openPublisher()
    const one = await other.publish(text('one'))
    const [two] = splitMessage(text('two'), one.link, 1_000)
    assert.ok(two)
    const [three] = splitMessage(text('three'), frameChecksum(two), 1_000)
    assert.ok(three)
    const retained = new Map([
      [2, two],
      [3, three],
    ])
    const outbox = {
      add: () => undefined,
      get: (_epoch: string, seq: number) => retained.get(seq),
      oldest: () => undefined,
      // It is called between the look at the end of the log and the first frame that is restored.
      flushed: async () => {
        if (other.last.sequence === 1) await other.publish(text('two'))
      },
    }
    const writer = await (await logs.open('BLOCKS', chain, outbox)).openPublisher()
    assert.deepEqual(writer.last, { epoch: log.epoch, sequence: 3, link: frameChecksum(three) })
    assert.deepEqual(await bodies(log), ['one', 'two', 'three'])
  })

  test('shorter than its writer knows', async () => {
    const { log, chain, stream } = await newLog()
    const publisher = await log.openPublisher()
    for (const body of ['one', 'two', 'three']) await publisher.publish(text(body))
    await manager.streams.delete(stream)
    await logs.open('BLOCKS', chain)
    await assert.rejects(publisher.publish(text('four')), hasCode('log_truncated'))
  })

  test('without its beginning', async () => {
    const { log, stream } = await newLog()
    const publisher = await log.openPublisher()
    const [one, , three] = [
      await publisher.publish(text('one')),
      await publisher.publish(text('two')),
      await publisher.publish(text('three')),
    ]
    await publisher.publish(text('four'))
    await manager.streams.update(stream, { max_msgs: 1 })
    await assert.rejects(readFrom(log, one), hasCode('log_truncated'))
    assert.deepEqual(await bodies(log, three), ['four'])
  })

  test('with other content at a position', async () => {
    const { log } = await newLog()
    const publisher = await log.openPublisher()
    const position = await publisher.publish(text('one'))
    await publisher.publish(text('two'))
    await assert.rejects(readFrom(log, { ...position, link: position.link ^ 1 }), hasCode('log_damaged'))
  })

  test('with something in it that is no frame, or does not follow', async () => {
    for (const strange of [text('hello'), Buffer.alloc(0), splitMessage(text('x'), 12345, 1_000)[0]]) {
      const { log, subject } = await newLog()
      const position = await (await log.openPublisher()).publish(text('one'))
      await jetstream(raw).publish(subject, strange ?? '')
      await assert.rejects(readFrom(log, position), hasCode('log_damaged'))
    }
  })
})

test('more replicas than a lone server can hold are refused, for new streams and for existing ones', async () => {
  const single = await connectLogs(options('lone'), createTestCommon())
  await single.open('BLOCKS', 'eth')
  await single.close()
  const tripled = await connectLogs({ ...options('lone'), replicas: 3 }, createTestCommon())
  try {
    for (const chain of ['eth', 'bsc']) {
      await assert.rejects(tripled.open('BLOCKS', chain), (error) => {
        assert.ok(hasCode('config_invalid')(error), String(error))
        assert.match(String(error), /nats\.replicas is 3, but the NATS server is not part of a cluster/)
        return true
      })
    }
  } finally {
    await tripled.close()
  }
  assert.equal((await manager.streams.info('lone_BLOCKS_eth')).config.num_replicas, 1)
})
