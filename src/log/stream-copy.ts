import {
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream'
import type { Logger } from '../lib/logger.ts'
import { decodeFrame, FIRST_LINK, frameChecksum } from '../wire/frame.ts'
import { type ConsumerWatch, consume, lastSequence, openConsumer } from './consume.ts'
import { findMessage } from './find-message.ts'
import { withPermission } from './permissions.ts'
import { LogPublisher } from './publisher.ts'

export type StreamSummary = {
  readonly epoch: string | undefined
  readonly first: number
  readonly last: number
  readonly messages: number
}

/** A message as the server stores it; `name` is what follows the subject of the stream. */
export type StoredMessage = { readonly seq: number; readonly name: string; readonly data: Uint8Array }

export type StreamCopyParts = ConsumerWatch & {
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  readonly stream: string
  readonly subject: string
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Creates the stream of a log that continues an earlier one: same epoch, same sequences. */
  readonly create: (epoch: string, first: number) => Promise<void>
}

const READ_AHEAD_BYTES = 16_000_000
/** Frames on their way to the server at a time. */
const FRAMES_IN_FLIGHT = 64

/** A stream as it is stored, frame by frame, for backups. Unlike the logs, it is never created by being opened. */
export class StreamCopy {
  readonly #parts: StreamCopyParts

  constructor(parts: StreamCopyParts) {
    this.#parts = parts
  }

  get stream(): string {
    return this.#parts.stream
  }

  /** Undefined if there is no such stream. */
  async summary(): Promise<StreamSummary | undefined> {
    const { manager, stream } = this.#parts
    try {
      const { config, state } = await withPermission(() => manager.streams.info(stream))
      const { first_seq: first, last_seq: last, messages } = state
      return { epoch: config.metadata?.['epoch'], first, last, messages }
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)
        return undefined
      throw error
    }
  }

  /** The frame at a sequence: its checksum, and where its message begins. Undefined if the log no longer holds it. */
  async frameAt(seq: number): Promise<{ readonly start: number; readonly checksum: number } | undefined> {
    const { manager, stream } = this.#parts
    const found = await withPermission(() => findMessage(manager, stream, { seq }))
    return found && { start: seq - decodeFrame(found.data).part, checksum: frameChecksum(found.data) }
  }

  /** The messages that are stored between two sequences, both included. */
  async *read(from: number, to: number): AsyncGenerator<StoredMessage, void, undefined> {
    const { client, manager, isConnected, onUndelivered, stream, subject, signal } = this.#parts
    if (from > to) return
    const consumer = await withPermission(() =>
      openConsumer(client, stream, { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from }),
    )
    const end = (): Promise<number> => lastSequence(manager, stream)
    const parts = { signal, isConnected, onUndelivered, after: from - 1, end, maxBytes: READ_AHEAD_BYTES }
    for await (const message of consume(consumer, parts)) {
      if (message.seq > to) return
      yield { seq: message.seq, name: message.subject.slice(subject.length + 1), data: message.data }
      if (message.seq === to) return
      // The last ones may have expired; but the replica that is read may also be behind.
      if (message.info.pending === 0 && (await end()) < to) return
    }
    signal.throwIfAborted()
  }

  /**
   * Recreates a log from its frames, which begin at `first`. Frames that are there already are passed over, so that it can be
   * interrupted and repeated.
   */
  async refill(epoch: string, first: number, frames: AsyncIterable<Uint8Array>): Promise<void> {
    if ((await this.summary()) === undefined) await this.#parts.create(epoch, first)
    const last = (await this.summary())?.last ?? first - 1
    const { manager, stream } = this.#parts
    const { config } = await manager.streams.info(stream)
    const storedAt = async (): Promise<undefined> => undefined
    const isReplicated = config.num_replicas > 1
    const publisher = new LogPublisher(
      { ...this.#parts, isReplicated, storedAt, maxFrameBytes: Number.MAX_SAFE_INTEGER },
      { epoch, sequence: last, link: FIRST_LINK },
    )
    let seq = first - 1
    let batch: Uint8Array[] = []
    for await (const frame of frames) {
      seq++
      if (seq <= last) continue
      batch.push(frame)
      if (batch.length < FRAMES_IN_FLIGHT) continue
      await publisher.appendFrames(batch)
      batch = []
    }
    await publisher.appendFrames(batch)
  }
}
