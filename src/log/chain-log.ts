import { setTimeout as sleep } from 'node:timers/promises'
import { DeliverPolicy, type JsMsg, type StoredMsg, type StreamInfo } from '@nats-io/jetstream'
import { ChaintapeError } from '../domain/errors.ts'
import type { LogPosition } from '../domain/log-position.ts'
import { decodeFrame, FIRST_LINK, type Frame, frameChecksum, MessageAssembler } from '../wire/frame.ts'
import { readAnnouncement } from './announcement.ts'
import { type ConsumerWatch, consume, lastSequence, openConsumer } from './consume.ts'
import { findMessage } from './find-message.ts'
import { inTime } from './in-time.ts'
import { openPublisher, type PublishedLog } from './open-publisher.ts'
import type { LogPublisher } from './publisher.ts'
import { type SearchedMessage, searchLog } from './search-log.ts'
import { TailLost } from './tail-lost.ts'

/**
 * State of a position: the log holds everything after it (`held`), retention dropped part of that (`dropped`), the log
 * ends before it (`ahead`), or it belongs to another log (`foreign`).
 */
export type Standing = 'held' | 'dropped' | 'ahead' | 'foreign'

/** A complete message and the position after it, which a consumer stores together with the message's effects. */
export type LogMessage = {
  readonly body: Uint8Array
  readonly position: LogPosition
  /** When the reader first heard of the block, in Unix milliseconds; only of live blocks. */
  readonly announcedAt?: number
  /** An operator quarantined it; only readers that opt in receive such messages. */
  readonly isQuarantined?: boolean
}

export type ChainLogParts = PublishedLog &
  ConsumerWatch & {
    /** True if the message that ends at this sequence is to be skipped. */
    readonly isQuarantined?: (seq: number) => boolean
  }

const RECONNECT_DELAY_MS = 200
/** Buffer for a consumer that is slower than the log. */
const READ_AHEAD_BYTES = 16_000_000
/** Frames this close to the end are added to the outbox when read; older ones are safe on the server's disk. */
const OUTBOX_FRAMES = 10_000

/** One chain's log: a JetStream stream of its own, so that its sequence has no gaps. */
export class ChainLog {
  readonly epoch: string
  readonly #parts: ChainLogParts

  constructor(parts: ChainLogParts) {
    this.epoch = parts.epoch
    this.#parts = parts
  }

  /**
   * Yields all messages after a position, then new ones as they are appended, until the signal aborts. Connection
   * failures are retried, and so is a log without its tail, until its writer has restored it; a log other than the one
   * of the position is a coded error.
   */
  async *read(options: {
    after: LogPosition | undefined
    signal: AbortSignal
    readAheadBytes?: number
    withQuarantined?: boolean
    /**
     * Ends after the message at this sequence without waiting for it, because the writer of a log cannot wait for
     * itself.
     */
    until?: number
  }): AsyncGenerator<LogMessage, void, undefined> {
    const { after, signal, readAheadBytes = READ_AHEAD_BYTES, withQuarantined = false, until } = options
    const { outbox, logger, stream } = this.#parts
    if (after !== undefined) this.expectEpoch(after)
    const assembler = new MessageAssembler(after?.link ?? FIRST_LINK)
    let last = after?.sequence ?? 0
    let isBehind = false
    while (!signal.aborted) {
      try {
        // Checked on every reconnect, because the log may have been recreated meanwhile.
        const end = await inTime(this.#checkPosition(last, assembler.link ?? FIRST_LINK))
        if (until !== undefined && end < until) throw new TailLost(stream, until)
        if (end < last) {
          if (!isBehind)
            logger.error({ code: 'log_truncated', seq: last, end }, 'Waiting for a lost log tail')
          isBehind = true
          await sleep(RECONNECT_DELAY_MS, undefined, { signal })
          continue
        }
        if (isBehind) logger.warn({ seq: last, end }, 'Log tail restored')
        isBehind = false
        for await (const frame of this.#frames(last + 1, readAheadBytes, signal)) {
          const { seq, data } = frame
          if (seq !== last + 1) {
            throw new ChaintapeError('log_truncated', `${stream}: message ${last + 1} is missing`)
          }
          last = seq
          const body = assembler.push(data)
          if (seq > end - OUTBOX_FRAMES) outbox?.add(this.epoch, seq, data)
          const isQuarantined = this.isQuarantined(seq)
          if (body !== undefined && (withQuarantined || !isQuarantined)) {
            const position = { epoch: this.epoch, sequence: seq, link: assembler.link ?? FIRST_LINK }
            const announcedAt = readAnnouncement(frame.headers)
            yield {
              ...{ body, position },
              ...(announcedAt !== undefined && { announcedAt }),
              ...(isQuarantined && { isQuarantined }),
            }
          }
          if (seq === until) return
        }
      } catch (error) {
        const isWaitedFor = error instanceof TailLost && until === undefined
        if (error instanceof ChaintapeError && !isWaitedFor) throw error
        if (signal.aborted) return
        logger.warn({ err: error, seq: last }, 'Log read failed; retrying')
      }
      await sleep(RECONNECT_DELAY_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  expectEpoch({ epoch, sequence: seq }: LogPosition): void {
    if (epoch !== this.epoch) throw this.#epochChanged(seq)
  }

  /** True if the log still holds everything after a position. */
  async holds(position: LogPosition): Promise<boolean> {
    return (await this.locate(position)) === 'held'
  }

  async locate({ epoch, sequence: seq, link }: LogPosition): Promise<Standing> {
    if (epoch !== this.epoch) return 'foreign'
    const { config, state } = await this.#info()
    if (config.metadata?.['epoch'] !== this.epoch) return 'foreign'
    if (state.last_seq < seq) return 'ahead'
    if (state.first_seq > seq + 1) return 'dropped'
    if (seq === 0) return link === FIRST_LINK ? 'held' : 'foreign'
    // The frame at the position may be the last one dropped; the next frame's link is checked when it is read.
    const frame = await this.#find(seq)
    return frame === undefined || frameChecksum(frame.data) === link ? 'held' : 'foreign'
  }

  /** The last complete message; skips an incomplete tail of a crashed writer and quarantined messages. */
  lastMessage({ withQuarantined = false } = {}): Promise<LogMessage | undefined> {
    return retryOnLostTail(() => this.#lastMessage(withQuarantined))
  }

  async #lastMessage(withQuarantined: boolean): Promise<LogMessage | undefined> {
    const last = await this.#lastMessageEnd(withQuarantined)
    return last && (await this.#assemble(last.seq, last.frame))
  }

  /** The message that ends at this sequence; undefined if the log has dropped it. */
  async messageAt(seq: number): Promise<LogMessage | undefined> {
    const found = await this.#find(seq)
    return found && (await this.#assemble(seq, decodeFrame(found.data)))
  }

  async #assemble(seq: number, frame: Frame): Promise<LogMessage> {
    const assembler = new MessageAssembler()
    let body: Uint8Array | undefined
    for (let at = seq - frame.part; at <= seq; at++) body = assembler.push(await this.#frameAt(at))
    if (body === undefined)
      throw new ChaintapeError('log_damaged', `${this.#parts.stream}: message parts do not match`)
    const position = { epoch: this.epoch, sequence: seq, link: frame.checksum }
    return this.isQuarantined(seq) ? { body, position, isQuarantined: true } : { body, position }
  }

  /** Sequence of the last complete message, which is the end of the readable log. */
  async lastSequence(): Promise<number> {
    return (await retryOnLostTail(() => this.#lastMessageEnd()))?.seq ?? 0
  }

  /** Approximate size of the messages after a sequence. */
  async bytesAfter(seq: number): Promise<number> {
    const { bytes, messages, first_seq, last_seq } = (await this.#info()).state
    if (messages === 0) return 0
    return (bytes / messages) * Math.max(0, last_seq - Math.max(seq, first_seq - 1))
  }

  /** The position after the last message for which `isUpTo` holds; see `searchLog`. */
  async positionWhere(isUpTo: (body: Uint8Array) => boolean): Promise<LogPosition> {
    const { first_seq: first, last_seq: last } = (await this.#info()).state
    const messageAt = (seq: number): Promise<SearchedMessage> => this.#messageAt(seq, first, last)
    return searchLog({ epoch: this.epoch, first, last, messageAt }, isUpTo)
  }

  async #messageAt(seq: number, first: number, last: number): Promise<SearchedMessage> {
    const { part, parts } = decodeFrame(await this.#frameAt(seq))
    const [start, end] = [seq - part, seq - part + parts - 1]
    if (start < first || end > last) return { start, end, link: FIRST_LINK, body: undefined }
    const assembler = new MessageAssembler()
    let body: Uint8Array | undefined
    for (let at = start; at <= end; at++) body = assembler.push(await this.#frameAt(at))
    return { start, end, link: assembler.link ?? FIRST_LINK, body }
  }

  /** Opens a publisher at the end of the log, after restoring lost messages from the outbox. */
  openPublisher(): Promise<LogPublisher> {
    return retryOnLostTail(() => openPublisher(this.#parts))
  }

  async *#frames(
    from: number,
    readAheadBytes: number,
    signal: AbortSignal,
  ): AsyncGenerator<Pick<JsMsg, 'seq' | 'data' | 'headers'>> {
    const { client, manager, stream, isConnected, onUndelivered } = this.#parts
    const position = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from } as const
    const consumer = await inTime(openConsumer(client, stream, position))
    // A request smaller than the next frame would be refused.
    const maxBytes = Math.max(readAheadBytes, 2 * this.#parts.maxFrameBytes)
    const end = (): Promise<number> => lastSequence(manager, stream)
    yield* consume(consumer, { signal, isConnected, onUndelivered, after: from - 1, end, maxBytes })
  }

  /** True if an operator quarantined the message that ends at this sequence. */
  isQuarantined(sequence: number): boolean {
    return this.#parts.isQuarantined?.(sequence) ?? false
  }

  async #lastMessageEnd(withQuarantined = false): Promise<{ seq: number; frame: Frame } | undefined> {
    const { state } = await this.#info()
    let seq = state.messages === 0 ? 0 : state.last_seq
    while (seq > 0) {
      const frame = decodeFrame(await this.#frameAt(seq))
      const isWanted = withQuarantined || !this.isQuarantined(seq)
      if (frame.part === frame.parts - 1 && isWanted) return { seq, frame }
      seq -= frame.part + 1
    }
    return undefined
  }

  /**
   * Checks that the frame at this position is unchanged; returns the end of the log, which may be before the position.
   */
  async #checkPosition(seq: number, link: number): Promise<number> {
    const { stream } = this.#parts
    const { config, state } = await this.#info()
    if (config.metadata?.['epoch'] !== this.epoch) throw this.#epochChanged(seq)
    if (state.first_seq > seq + 1) {
      throw new ChaintapeError(
        'log_truncated',
        `${stream} begins at ${state.first_seq}, but ${seq + 1} is needed`,
      )
    }
    if (seq === 0 || seq < state.first_seq || state.last_seq < seq) return state.last_seq
    if (frameChecksum(await this.#frameAt(seq)) !== link) {
      throw new ChaintapeError('log_damaged', `${stream}: message ${seq} differs from the one read before`)
    }
    return state.last_seq
  }

  #info(): Promise<StreamInfo> {
    return this.#parts.manager.streams.info(this.#parts.stream)
  }

  #epochChanged(seq: number): ChaintapeError {
    return new ChaintapeError(
      'log_epoch_changed',
      `${this.#parts.stream} was recreated after position ${seq} was stored`,
    )
  }

  async #frameAt(seq: number): Promise<Uint8Array> {
    const found = await this.#find(seq)
    if (found === undefined) throw new TailLost(this.#parts.stream, seq)
    return found.data
  }

  #find(seq: number): Promise<StoredMsg | undefined> {
    return findMessage(this.#parts.manager, this.#parts.stream, { seq })
  }
}

/** Retries once if the log lost its end between the two requests. */
async function retryOnLostTail<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof TailLost)) throw error
    return await read()
  }
}
