import { createHash } from 'node:crypto'
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
  readonly frameAt: (seq: number) => Promise<Uint8Array | undefined>
}

const PUBLISH_TIMEOUT_MS = 5_000

/**
 * The one writer of a log. Each frame names the sequence it expects to follow, so a second writer fails at
 * once; a frame whose acknowledgement was lost is sent again and recognised, by its id or by its bytes.
 */
export class LogPublisher {
  readonly #parts: PublisherParts
  #last: LogPosition

  constructor(parts: PublisherParts, last: LogPosition) {
    this.#parts = parts
    this.#last = last
  }

  /** Where the log ends, as far as this writer knows. */
  get last(): LogPosition {
    return this.#last
  }

  /** Appends one message, in as many frames as it needs; returns the position after it. */
  async publish(body: Uint8Array): Promise<LogPosition> {
    for (const frame of splitMessage(body, this.#last.link, this.#parts.maxFrameBytes)) {
      const expected = this.#last.seq
      const seq = await this.#append(frame, expected)
      this.#last = { epoch: this.#last.epoch, seq, link: frameChecksum(frame) }
    }
    return this.#last
  }

  async #append(frame: Uint8Array, expected: number): Promise<number> {
    const { client, stream, subject, logger, signal } = this.#parts
    const digest = createHash('sha256').update(frame).digest('base64url')
    let refusals = 0
    const publish = async (): Promise<number> => {
      // The place is part of the id: after a fork and back, the same block is rightly appended twice. So is the
      // number of refusals: a cluster may remember the id of a message that it refused.
      const msgID = `${expected}:${digest}:${refusals}`
      const expect = { streamName: stream, lastSequence: expected }
      try {
        const ack = await client.publish(subject, frame, { msgID, expect, timeout: PUBLISH_TIMEOUT_MS })
        if (ack.seq === expected + 1) return ack.seq
      } catch (error) {
        if (!isFence(error)) throw error
      }
      // Refused, or taken for a duplicate: servers differ in which they check first, so only the log itself tells.
      const stored = await this.#parts.frameAt(expected + 1)
      if (stored === undefined) {
        refusals++
        throw new Error(`${stream} refused message ${expected + 1} and does not hold it`)
      }
      if (Buffer.compare(stored, frame) !== 0) throw this.#fenced(expected)
      return expected + 1
    }
    return retry(publish, {
      signal,
      isRetryable: (error) => !(error instanceof ChaintapeError),
      onRetry: (error, attempt) => logger.warn({ err: error, attempt, expected }, 'Publishing again'),
    })
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
    (error.code === JetStreamApiCodes.StreamWrongLastSequence ||
      error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)
  )
}
