import { randomUUID } from 'node:crypto'
import { JetStreamApiCodes, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream'
import { ChaintapeError } from '../domain/errors.ts'
import type { LogPosition } from '../domain/log-position.ts'
import { frameChecksum, splitMessage } from '../domain/wire/frame.ts'
import type { Logger } from '../lib/logger.ts'
import { retry } from '../lib/retry.ts'

export type PublisherParts = {
  readonly client: JetStreamClient
  readonly stream: string
  readonly subject: string
  readonly maxFrameBytes: number
  readonly logger: Logger
  readonly signal: AbortSignal
  /** The id that a stored message was published with; undefined if there is no such message. */
  readonly messageIdAt: (seq: number) => Promise<string | undefined>
}

const WRONG_LAST_MESSAGE_ID = 10_070
const PUBLISH_TIMEOUT_MS = 5_000

/**
 * The one writer of a log. Each frame names the sequence it expects to follow, so a second writer fails at
 * once, even one that would write the same; a frame whose acknowledgement was lost is sent again under the same
 * id, and the id tells whether the frame that is stored there is ours.
 */
export class LogPublisher {
  readonly #parts: PublisherParts
  readonly #writer = randomUUID()
  #last: LogPosition
  /** The id that a frame which is not acknowledged yet was sent under last, by its sequence. */
  readonly #underWay = new Map<number, string>()
  #turn: Promise<void> | undefined
  #fence: ChaintapeError | undefined

  constructor(parts: PublisherParts, last: LogPosition) {
    this.#parts = parts
    this.#last = last
  }

  /** Where the log ends once all that was given to `publish` is stored. */
  get last(): LogPosition {
    return this.#last
  }

  /**
   * Appends one message, in as many frames as it needs; gives the position after it once it is stored. The next
   * one may be published before that: each frame knows its place, and waits for it.
   */
  async publish(body: Uint8Array): Promise<LogPosition> {
    const appending: Promise<number>[] = []
    for (const frame of splitMessage(body, this.#last.link, this.#parts.maxFrameBytes)) {
      const expected = this.#last.seq
      this.#last = { epoch: this.#last.epoch, seq: expected + 1, link: frameChecksum(frame) }
      appending.push(this.#append(frame, expected))
    }
    const position = this.#last
    await Promise.all(appending)
    return position
  }

  async #append(frame: Uint8Array, expected: number): Promise<number> {
    await this.#endOfTurn()
    const { client, stream, subject, logger, signal } = this.#parts
    let refusals = 0
    const publish = async (): Promise<number> => {
      // A cluster may remember the id of a message that it refused, so a refused one is sent under another id.
      const msgID = `${this.#writer}:${expected}:${refusals}`
      this.#underWay.set(expected + 1, msgID)
      // A sequence alone does not tell whose frame it is: while ours before this one is not known to be stored,
      // another writer's may stand in its place.
      const lastMsgID = this.#underWay.get(expected)
      const expect = { streamName: stream, lastSequence: expected, ...(lastMsgID && { lastMsgID }) }
      try {
        const ack = await client.publish(subject, frame, { msgID, expect, timeout: PUBLISH_TIMEOUT_MS })
        if (ack.seq === expected + 1) return ack.seq
      } catch (error) {
        if (!isFence(error)) throw error
      }
      // Refused, or taken for a duplicate: servers differ in which they check first, so only the log itself tells.
      const storedId = await this.#parts.messageIdAt(expected + 1)
      if (storedId?.startsWith(`${this.#writer}:`)) return expected + 1
      // One frame fenced off, and none that is built on it may be stored either.
      if (storedId !== undefined) this.#fence ??= this.#fenced(expected)
      if (this.#fence !== undefined) throw this.#fence
      refusals++
      throw new Error(`${stream} refused message ${expected + 1} and does not hold it`)
    }
    const stored = await retry(publish, {
      signal,
      isRetryable: (error) => !(error instanceof ChaintapeError),
      onRetry: (error, attempt) => logger.warn({ err: error, attempt, expected }, 'Publishing again'),
    })
    this.#underWay.delete(stored)
    return stored
  }

  /** What is published in one turn of the event loop leaves in one write: a write costs more than a frame. */
  #endOfTurn(): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#turn = undefined
        resolve()
      })
    })
    return this.#turn
  }

  #fenced(expected: number): ChaintapeError {
    return new ChaintapeError(
      'fenced',
      `${this.#parts.stream}: another writer appended after ${expected}; only one may run per chain`,
    )
  }
}

function isFence(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === WRONG_LAST_MESSAGE_ID ||
      error.code === JetStreamApiCodes.StreamWrongLastSequence ||
      error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)
  )
}
