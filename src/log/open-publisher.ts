import type { JetStreamClient, JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { ChaintapeError } from '../domain/errors.ts'
import type { Logger } from '../lib/logger.ts'
import type { Outbox } from '../lib/outbox.ts'
import { decodeFrame, FIRST_LINK, frameChecksum } from '../wire/frame.ts'
import { findMessage } from './find-message.ts'
import { inTime } from './in-time.ts'
import { LogPublisher, type StoredFrame } from './publisher.ts'
import { streamInfo } from './streams.ts'
import { TailLost } from './tail-lost.ts'

export type PublishedLog = {
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  readonly stream: string
  readonly subject: string
  readonly epoch: string
  readonly maxFrameBytes: number
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Only for the writer of this log: the messages it appends again if the log loses its tail, or is lost. */
  readonly outbox?: Outbox | undefined
  /** Creates a lost stream again; false if there is no way to continue it. */
  readonly recreate?: () => Promise<boolean>
}

/** Opens a publisher at the end of a log, after restoring lost messages from the outbox. */
export async function openPublisher(log: PublishedLog): Promise<LogPublisher> {
  const { epoch, stream, outbox, logger } = log
  const found = await existing(log)
  if (found === undefined && (await log.recreate?.()) === true) return await openPublisher(log)
  const { state, config } = found ?? (await log.manager.streams.info(stream))
  const end = state.last_seq
  const before = end === 0 ? undefined : await storedAt(log, end)
  // A log that was just recreated is empty, and begins with a message of the outbox.
  const first = state.messages === 0 ? outbox?.get(epoch, end + 1) : undefined
  if (end > 0 && before === undefined && first === undefined) throw new TailLost(stream, end)
  let link = before?.checksum ?? (first === undefined ? FIRST_LINK : decodeFrame(first).link)
  const publisher = new LogPublisher(
    {
      ...log,
      isReplicated: config.num_replicas > 1,
      storedAt: (seq) => storedAt(log, seq),
      isLost: async () => (await inTime(existing(log))) === undefined,
    },
    { epoch, sequence: end, link },
  )
  await outbox?.flushed()
  for (let seq = end + 1; ; seq++) {
    const frame = outbox?.get(epoch, seq)
    // A frame with another link was never stored, or another writer continued the log.
    if (frame === undefined || decodeFrame(frame).link !== link) break
    link = frameChecksum(frame)
    try {
      await publisher.appendFrames([frame])
    } catch (error) {
      if (!(error instanceof ChaintapeError && error.code === 'fenced')) throw error
      // Another writer appends, so the log ends elsewhere by now, and part of the outbox may be stored.
      return await openPublisher(log)
    }
  }
  if (publisher.last.sequence > end)
    logger.warn({ end, restored: publisher.last.sequence }, 'Log tail restored')
  return publisher
}

/** Undefined if the stream of this log is gone, or an empty one has taken its place. */
async function existing({ manager, stream, epoch }: PublishedLog): Promise<StreamInfo | undefined> {
  const info = await streamInfo(manager, stream)
  const isReplaced = info?.config.metadata?.['epoch'] !== epoch && info?.state.messages === 0
  return isReplaced ? undefined : info
}

async function storedAt({ manager, stream }: PublishedLog, seq: number): Promise<StoredFrame | undefined> {
  const found = await findMessage(manager, stream, { seq })
  return found && { id: found.header.get('Nats-Msg-Id'), checksum: frameChecksum(found.data) }
}
