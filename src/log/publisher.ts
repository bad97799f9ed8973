import { randomUUID } from 'node:crypto'
import { JetStreamApiCodes, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream'
import { ChaintapeError } from '../domain/errors.ts'
import type { LogPosition } from '../domain/log-position.ts'
import type { Logger } from '../lib/logger.ts'
import type { Outbox } from '../lib/outbox.ts'
import { retry } from '../lib/retry.ts'
import { decodeFrame, frameChecksum, splitMessage } from '../wire/frame.ts'
import { announcementHeaders } from './announcement.ts'
import { withPermission } from './permissions.ts'
import { TailLost } from './tail-lost.ts'

export type PublisherParts = {
  readonly client: JetStreamClient
  readonly stream: string
  readonly subject: string
  readonly maxFrameBytes: number
  /** Several NATS nodes hold the stream. */
  readonly isReplicated: boolean
  readonly logger: Logger
  readonly signal: AbortSignal
  /** The id and checksum of the frame at `seq`; undefined if the log holds no such frame. */
  readonly storedAt: (seq: number) => Promise<StoredFrame | undefined>
  /** True if the whole log is gone. */
  readonly isLost?: () => Promise<boolean>
  readonly outbox?: Outbox | undefined
}

export type StoredFrame = { readonly id: string; readonly checksum: number }

const WRONG_LAST_MESSAGE_ID = 10_070
/** A frame that was under way to a node when it ended is never acknowledged; a cluster needs seconds to elect another leader. */
const PUBLISH_TIMEOUT_MS = 2_000
const MAX_RETRY_MS = 500

/**
 * The single writer of a log. Each frame carries the expected sequence of the previous frame, so a second writer is fenced
 * at its first publish, even with identical frames. A frame whose acknowledgement was lost is sent again under the same id,
 * which identifies the stored frame as ours. A log that lost acknowledged frames is refused with `log_truncated`, because
 * appending to it would leave a gap.
 *
 * Frames of a stream on one node are pipelined, and carry the id of the previous frame, too: another writer may have stored
 * its own frame at that sequence. The nodes of a cluster check that id only when they apply a frame, each from what it
 * remembers. One that refuses what the others accept never applies another frame. So a frame of a replicated stream waits
 * until the previous one is stored (docs/decisions/0119).
 */
export class LogPublisher {
  readonly #parts: PublisherParts
  readonly #writer = randomUUID()
  #last: LogPosition
  /** The last id used for each unacknowledged frame, by sequence. */
  readonly #underWay = new Map<number, string>()
  /** The last acknowledged frame and its stored id. */
  #acknowledged: { readonly seq: number; readonly id: string } | undefined
  /** Settles with the frame that was appended last. */
  #previous: Promise<void> = Promise.resolve()
  /** Frames that failed and are not stored yet. */
  #failed = 0
  /** Resolves when there are none. */
  #recovery: PromiseWithResolvers<void> | undefined
  #isLooking = false
  #turn: Promise<void> | undefined
  #fence: ChaintapeError | undefined

  constructor(parts: PublisherParts, last: LogPosition) {
    this.#parts = parts
    this.#last = last
  }

  /** End of the log once all frames passed to `publish` are stored. */
  get last(): LogPosition {
    return this.#last
  }

  /**
   * Appends a message in as many frames as it needs; resolves to the position after it once it is stored. Further
   * messages may be passed before that. `announcedAt` goes into a header of the last frame.
   */
  async publish(body: Uint8Array, announcedAt?: number): Promise<LogPosition> {
    const frames = splitMessage(body, this.#last.link, this.#parts.maxFrameBytes)
    return await this.appendFrames(frames, announcedAt)
  }

  /** Appends linked frames: new ones, or lost ones from the outbox. */
  async appendFrames(frames: readonly Uint8Array[], announcedAt?: number): Promise<LogPosition> {
    const { epoch } = this.#last
    const appending: Promise<void>[] = []
    for (const [index, frame] of frames.entries()) {
      const expected = this.#last.sequence
      this.#last = { epoch, sequence: expected + 1, link: frameChecksum(frame) }
      this.#parts.outbox?.add(epoch, expected + 1, frame)
      const isLast = index === frames.length - 1
      this.#previous = this.#append(frame, expected, isLast ? announcedAt : undefined, this.#previous)
      appending.push(this.#previous)
    }
    const position = this.#last
    await Promise.all(appending)
    return position
  }

  async #append(
    frame: Uint8Array,
    expected: number,
    announcedAt: number | undefined,
    previous: Promise<void>,
  ): Promise<void> {
    const { client, stream, subject, isReplicated, logger, signal } = this.#parts
    let refusals = 0
    let isVerified = false
    let hasFailed = false
    // A cluster may remember the id of a refused message, so the retry uses another id.
    const nextId = (): string => {
      const id = `${this.#writer}:${expected}:${refusals}`
      this.#underWay.set(expected + 1, id)
      return id
    }
    // From now on, because a later frame that is refused looks for its predecessor here.
    nextId()
    if (isReplicated) await previous
    else await this.#endOfTurn()
    // Frames after one that failed would be refused. Once all that failed are stored, those that wait here leave together.
    while (this.#recovery !== undefined) await this.#recovery.promise
    const publish = async (): Promise<string> => {
      if (hasFailed) await previous
      if (this.#fence !== undefined) throw this.#fence
      const msgID = nextId()
      const lastMsgID = isReplicated || isVerified ? undefined : this.#idAt(expected)
      const expect = { streamName: stream, lastSequence: expected, ...(lastMsgID && { lastMsgID }) }
      try {
        const ack = await withPermission(() =>
          client.publish(subject, frame, {
            ...{ msgID, expect, timeout: PUBLISH_TIMEOUT_MS },
            // Made for each attempt, because the client adds its own to them.
            ...(announcedAt !== undefined && { headers: announcementHeaders(announcedAt) }),
          }),
        )
        if (ack.seq === expected + 1) return msgID
      } catch (error) {
        if (!isFence(error)) {
          this.#lookForLog(expected)
          throw error
        }
      }
      // Refused, or a duplicate: servers differ in which they check first, so only the log itself can decide.
      const stored = await this.#parts.storedAt(expected + 1)
      if (stored?.id.startsWith(`${this.#writer}:`)) return stored.id
      // Once one frame is fenced, no later frame may be stored.
      if (stored !== undefined) this.#fence ??= this.#fenced(expected)
      else isVerified = await this.#verifyBefore(frame, expected)
      if (this.#fence !== undefined) throw this.#fence
      refusals++
      throw new Error(`${stream} refused message ${expected + 1} and does not hold it`)
    }
    const storedId = retry(publish, {
      signal,
      maxDelayMs: MAX_RETRY_MS,
      isRetryable: (error) => !(error instanceof ChaintapeError),
      onRetry: (error, attempt) => {
        if (!hasFailed) this.#beginRecovery()
        hasFailed = true
        // Up to 64 messages wait for the same server, so only the first one logs.
        const [oldest] = this.#underWay.keys()
        if (oldest === expected + 1)
          logger.warn({ err: error, attempt, expected }, 'Publish failed; retrying')
      },
    })
    const id = await storedId.finally(() => {
      if (hasFailed) this.#endRecovery()
    })
    this.#underWay.delete(expected + 1)
    if (expected >= (this.#acknowledged?.seq ?? 0)) this.#acknowledged = { seq: expected + 1, id }
  }

  #beginRecovery(): void {
    this.#failed++
    this.#recovery ??= Promise.withResolvers()
  }

  #endRecovery(): void {
    this.#failed--
    if (this.#failed > 0) return
    this.#recovery?.resolve()
    this.#recovery = undefined
  }

  /**
   * A lost log is restored when it is opened again; until then, frames would be retried in vain. A retry does not wait for the
   * response: while the nodes of a cluster elect a leader, there is none.
   */
  #lookForLog(expected: number): void {
    const { isLost, stream } = this.#parts
    if (isLost === undefined || this.#isLooking) return
    this.#isLooking = true
    const looking = isLost().then((lost) => {
      if (lost) this.#fence ??= new TailLost(stream, expected)
    })
    // Without a response nothing is known; the next failure looks again.
    const done = (): void => {
      this.#isLooking = false
    }
    looking.then(done, done)
  }

  #idAt(seq: number): string | undefined {
    return this.#acknowledged?.seq === seq ? this.#acknowledged.id : this.#underWay.get(seq)
  }

  /**
   * Checks the frame before a refused one, because a restarted server forgets old ids and then refuses valid frames.
   */
  async #verifyBefore(frame: Uint8Array, expected: number): Promise<boolean> {
    // Our own previous frame is still being resent.
    if (expected === 0 || this.#underWay.has(expected)) return false
    const before = await this.#parts.storedAt(expected)
    if (before === undefined) this.#fence ??= new TailLost(this.#parts.stream, expected)
    else if (before.checksum !== decodeFrame(frame).link) this.#fence ??= this.#fenced(expected)
    return this.#fence === undefined
  }

  /** Frames published in one turn of the event loop leave in one write, because a write costs more than a frame. */
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
    return new ChaintapeError('fenced', `${this.#parts.stream}: another writer appended after ${expected}`)
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
