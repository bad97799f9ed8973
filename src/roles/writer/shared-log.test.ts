import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { LogMessage } from '../../log/chain-log.ts'
import { encodeChangeSet } from '../../wire/change-codec.ts'
import type { IndexedMessage, ReadLog } from './log-reader.ts'
import { SharedLog } from './shared-log.ts'

const ROOM = 5

/** A log in memory: counts its readers and the messages it delivers. */
class MemoryLog implements ReadLog {
  readonly epoch = 'e'
  readonly #messages: LogMessage[] = []
  readonly #waiting = new Set<() => void>()
  delivered = 0
  readers = 0
  failure: Error | undefined

  positionAt(seq: number): LogPosition {
    return { epoch: this.epoch, sequence: seq, link: seq * 7 }
  }

  append(count: number): void {
    for (let i = 0; i < count; i++) {
      const seq = this.#messages.length + 1
      const body = encodeChangeSet({
        chain: 'eth',
        seq,
        cause: 'block',
        head: { number: seq, hash: '0x00', time: seq },
        finalNumber: 0,
        changes: [],
      })
      this.#messages.push({ body, position: this.positionAt(seq) })
    }
    this.wake()
  }

  wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  async *read({ after, signal }: Parameters<ReadLog['read']>[0]): AsyncGenerator<LogMessage, void> {
    this.readers++
    signal.addEventListener('abort', () => this.wake())
    try {
      for (let at = after?.sequence ?? 0; !signal.aborted; ) {
        if (this.failure !== undefined) throw this.failure
        const message = this.#messages[at]
        if (message === undefined) await new Promise<void>((resolve) => this.#waiting.add(resolve))
        else {
          at++
          this.delivered++
          await nextTurn()
          yield message
        }
      }
    } finally {
      this.readers--
    }
  }
}

/** Takes messages on command. */
class Store {
  readonly seqs: number[] = []
  readonly messages: IndexedMessage[] = []
  readonly #stop = new AbortController()
  readonly #reading: AsyncGenerator<IndexedMessage, void>
  #pending: Promise<IteratorResult<IndexedMessage, void>> | undefined

  constructor(shared: SharedLog, after?: LogPosition) {
    this.#reading = shared.read({ after, signal: this.#stop.signal })
  }

  async take(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.#pending ??= this.#reading.next()
      const { value } = await this.#pending
      this.#pending = undefined
      if (value === undefined) return
      this.messages.push(value)
      this.seqs.push(value.set.seq)
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#reading.return()
  }
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

function openPair(after?: (log: MemoryLog) => [LogPosition | undefined, LogPosition | undefined]) {
  const log = new MemoryLog()
  const shared = new SharedLog({ chain: 'eth', generation: { number: 1 } }, log, ROOM)
  const [first, second] = after?.(log) ?? [undefined, undefined]
  return { log, a: new Store(shared, first), b: new Store(shared, second) }
}

test('stores that keep up share each message', async () => {
  const { log, a, b } = openPair()
  log.append(20)
  for (let i = 0; i < 20; i++) await Promise.all([a.take(1), b.take(1)])
  assert.deepEqual(a.seqs, range(1, 20))
  assert.deepEqual(a.messages, b.messages)
  assert.ok(a.messages.every((message, i) => message === b.messages[i]))
  assert.equal(log.delivered, 20)
  const waiting = [a.take(1), b.take(1)]
  await Promise.all([a.stop(), b.stop(), ...waiting])
  assert.equal(log.readers, 0)
})

test('a store within the bound is waited for; beyond it, it reads the log itself and joins again', async () => {
  const { log, a, b } = openPair()
  log.append(40)
  await Promise.all([a.take(1), b.take(1)])
  await a.take(ROOM)
  await b.take(ROOM)
  assert.equal(log.delivered, 1 + ROOM)
  await a.take(30)
  assert.equal(log.readers, 1)
  await b.take(1)
  assert.equal(log.readers, 2)
  await b.take(29)
  assert.deepEqual(b.seqs, a.seqs)
  log.append(2)
  const { delivered } = log
  await Promise.all([a.take(6), b.take(6)])
  assert.equal(log.readers, 1)
  assert.equal(log.delivered, delivered + 6)
  assert.deepEqual(b.seqs, range(1, 42))
  await Promise.all([a.stop(), b.stop()])
  assert.equal(log.readers, 0)
})

test('a store that starts behind joins where the other one stands, and does not hold it back', async () => {
  const { log, a, b } = openPair((of) => [of.positionAt(12), of.positionAt(3)])
  log.append(14)
  await a.take(2)
  await b.take(1)
  assert.equal(log.readers, 2)
  await b.take(10)
  log.append(5)
  await Promise.all([a.take(5), b.take(5)])
  assert.equal(log.readers, 1)
  assert.deepEqual(a.seqs, range(13, 19))
  assert.deepEqual(b.seqs, range(4, 19))
  await Promise.all([a.stop(), b.stop()])
})

test('a position of another log does not join', async () => {
  const { log, a, b } = openPair((of) => [of.positionAt(3), { ...of.positionAt(3), link: 1 }])
  log.append(4)
  await Promise.all([a.take(1), b.take(1)])
  assert.equal(log.readers, 2)
  await Promise.all([a.stop(), b.stop()])
})

test('a log that cannot be read fails both, each after what it had left to take', async () => {
  const { log, a, b } = openPair()
  log.append(4)
  await Promise.all([a.take(4), b.take(1)])
  log.failure = new ChaintapeError('log_damaged', 'checksum does not match')
  log.wake()
  await assert.rejects(a.take(1), log.failure)
  await b.take(3)
  await assert.rejects(b.take(1), log.failure)
  assert.equal(log.readers, 0)
})

test('one store that ends leaves the other one reading', async () => {
  const { log, a, b } = openPair()
  const waiting = [a.take(1), b.take(3)]
  await nextTurn()
  await a.stop()
  log.append(3)
  await Promise.all(waiting)
  assert.deepEqual(b.seqs, [1, 2, 3])
  await b.stop()
  assert.equal(log.readers, 0)
})

test('whatever their pace, both stores get every message once and in order, and at the end share a reader', async () => {
  const turn = fc.record({ store: fc.constantFrom('a', 'b', 'both'), count: fc.integer({ min: 1, max: 12 }) })
  const starts = fc.tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 10 }))
  await fc.assert(
    fc.asyncProperty(starts, fc.array(turn, { maxLength: 12 }), async ([atA, atB], turns) => {
      const { log, a, b } = openPair((of) => [of.positionAt(atA), of.positionAt(atB)])
      log.append(200)
      for (const { store, count } of turns) {
        await Promise.all([store === 'b' || a.take(count), store === 'a' || b.take(count)])
      }
      await Promise.all([a.take(200 - atA - a.seqs.length), b.take(200 - atB - b.seqs.length)])
      const both = Promise.all([a.take(2), b.take(2)])
      log.append(2)
      await both
      assert.deepEqual(a.seqs, range(atA + 1, 202))
      assert.deepEqual(b.seqs, range(atB + 1, 202))
      assert.equal(log.readers, 1)
      await Promise.all([a.stop(), b.stop()])
    }),
    { numRuns: 60 },
  )
})
