import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Consumer,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream'
import { ChaintapeError } from '../domain/errors.ts'
import type { Logger } from '../lib/logger.ts'
import { type ConsumerWatch, consume, lastSequence, openConsumer } from './consume.ts'
import { findMessage } from './find-message.ts'
import { guardNats, natsUnavailable } from './guard-nats.ts'
import { inTime } from './in-time.ts'
import { withPermission } from './permissions.ts'

/** The latest value under a name; `seq` grows with every write to the bucket, and `time` is that of the write, in nanoseconds. */
export type LatestValue = {
  readonly name: string
  readonly seq: number
  readonly time: number
  readonly body: Uint8Array
}

export type LatestValuesParts = ConsumerWatch & {
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  readonly stream: string
  /** Prefix of the names, which are appended as further tokens of the subject. */
  readonly subject: string
  readonly logger: Logger
  /** Creates the stream if it is lost. */
  readonly ensure?: () => Promise<unknown>
}

export type WatchOptions = {
  readonly signal: AbortSignal
  readonly onValue: (value: LatestValue) => void
  /** Called once, when all existing values were reported. */
  readonly onCurrent: () => void
}

const PUT_TIMEOUT_MS = 5_000
/** Short, because a caller waits. */
const READ_TIMEOUT_MS = 5_000
const HEARTBEAT_MS = 1_000
const RETRY_DELAY_MS = 200

/** A stream that keeps the latest message of each subject: durable, replicated, and watchers are notified at once. */
export class LatestValues {
  readonly #parts: LatestValuesParts

  constructor(parts: LatestValuesParts) {
    this.#parts = parts
  }

  /**
   * Compare-and-set with `after`: writes only if the latest value has that `seq` (0: no value), otherwise returns
   * false.
   */
  async put(name: string, body: Uint8Array, after?: number): Promise<boolean> {
    const { client, stream, subject } = this.#parts
    this.#mustBeConnected()
    const expect = { streamName: stream, ...(after === undefined ? {} : { lastSubjectSequence: after }) }
    try {
      await withPermission(() =>
        client.publish(`${subject}.${name}`, body, { expect, timeout: PUT_TIMEOUT_MS }),
      )
      return true
    } catch (error) {
      if (isOutdated(error)) return false
      const isAnswer = error instanceof JetStreamApiError || error instanceof ChaintapeError
      if (isAnswer) throw error
      // For the next attempt; without the permission, the role that owns the stream creates it.
      void this.#parts.ensure?.().catch(() => undefined)
      throw natsUnavailable(error)
    }
  }

  /** The latest value of one name. */
  async find(name: string): Promise<LatestValue | undefined> {
    const { manager, stream, subject } = this.#parts
    this.#mustBeConnected()
    const query = { last_by_subj: `${subject}.${name}` }
    const found = await guardNats(() => withPermission(() => findMessage(manager, stream, query)))
    return found && { name, seq: found.seq, time: nanosOf(found.timestamp), body: found.data }
  }

  /** The latest value of every matching name; `*` matches one token, `>` all that follow. */
  async read(names: string): Promise<LatestValue[]> {
    const { manager, stream, subject } = this.#parts
    this.#mustBeConnected()
    const filter = `${subject}.${names}`
    const startedMs = performance.now()
    return guardNats(async () => {
      // The leader says what exists: the replica that a consumer reads may lack the newest values.
      const newest = await withPermission(() => findMessage(manager, stream, { last_by_subj: filter }))
      if (newest === undefined) return []
      while (true) {
        const found = await this.#readOnce(filter)
        if (found.some(({ seq }) => seq >= newest.seq)) return found
        if (performance.now() - startedMs > READ_TIMEOUT_MS) throw new Error('the replica lacks values')
        await sleep(RETRY_DELAY_MS)
      }
    })
  }

  async #readOnce(filter: string): Promise<LatestValue[]> {
    const { client, stream } = this.#parts
    const consumer = await withPermission(() =>
      openConsumer(client, stream, {
        deliver_policy: DeliverPolicy.LastPerSubject,
        filter_subjects: filter,
      }),
    )
    const found = await this.#readPending(consumer)
    // The server would keep the consumer for a minute.
    await consumer.delete()
    return found
  }

  async #readPending(consumer: Consumer): Promise<LatestValue[]> {
    if ((await consumer.info()).num_pending === 0) return []
    const messages = await consumer.consume({
      idle_heartbeat: HEARTBEAT_MS,
      abort_on_missing_resource: true,
    })
    const overdue = setTimeout(() => messages.stop(), READ_TIMEOUT_MS)
    // A name that is written meanwhile comes twice.
    const found = new Map<string, LatestValue>()
    try {
      for await (const message of messages) {
        const value = this.#toValue(message)
        found.set(value.name, value)
        if (message.info.pending === 0) return [...found.values()]
      }
    } finally {
      clearTimeout(overdue)
      messages.stop()
    }
    throw new Error('timed out before all values arrived')
  }

  /** Reports every existing value, then each new one, until the signal aborts. Failures are retried. */
  async watch({ signal, onValue, onCurrent }: WatchOptions): Promise<void> {
    const { client, manager, isConnected, onUndelivered, stream, logger } = this.#parts
    const end = (): Promise<number> => lastSequence(manager, stream)
    let isCurrent = false
    // The leader says what exists: the replica that a consumer reads may lack the newest values.
    const check = async (reported: number): Promise<void> => {
      if (isCurrent || reported < (await inTime(end()))) return
      isCurrent = true
      onCurrent()
    }
    while (!signal.aborted) {
      try {
        const consumer = await inTime(
          openConsumer(client, stream, { deliver_policy: DeliverPolicy.LastPerSubject }),
        )
        if ((await inTime(consumer.info())).num_pending === 0) await check(0)
        const parts = { signal, isConnected, onUndelivered, after: 0, end }
        for await (const message of consume(consumer, parts)) {
          onValue(this.#toValue(message))
          if (message.info.pending === 0) await check(message.seq)
        }
      } catch (error) {
        if (signal.aborted) return
        logger.warn({ err: error }, 'Watch failed; retrying')
        await this.#parts.ensure?.().catch(() => undefined)
      }
      await sleep(RETRY_DELAY_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Fails at once without a connection, because a caller waits. */
  #mustBeConnected(): void {
    if (!this.#parts.isConnected()) throw natsUnavailable()
  }

  #toValue(message: JsMsg): LatestValue {
    return {
      name: message.subject.slice(this.#parts.subject.length + 1),
      seq: message.seq,
      time: message.info.timestampNanos,
      body: message.data,
    }
  }
}

const NANOS_PER_MILLISECOND = 1_000_000n

/** Exactly what a consumer gives as the time of the same message. */
function nanosOf(timestamp: string): number {
  const [seconds = '', fraction = ''] = timestamp.replace('Z', '').split('.')
  const whole = BigInt(Date.parse(`${seconds}Z`)) * NANOS_PER_MILLISECOND
  return Number(whole + BigInt(fraction.padEnd(9, '0')))
}

function isOutdated(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamWrongLastSequence ||
      error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)
  )
}
