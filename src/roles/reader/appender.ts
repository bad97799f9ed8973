import type { ReaderIndex } from '../../chain/reader-index.ts'
import type { Envelope } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { PoisonedMessage } from '../../domain/quarantine.ts'
import type { Logger } from '../../lib/logger.ts'
import { retry } from '../../lib/retry.ts'
import type { ChainLog, LogMessage } from '../../log/chain-log.ts'
import type { LogPublisher } from '../../log/publisher.ts'
import { TailLost } from '../../log/tail-lost.ts'
import type { BlockArchive } from '../../store/clickhouse/block-archive.ts'
import type { StateStore } from '../../store/lmdb/state-store.ts'
import { decodeEnvelope, encodeEnvelope } from '../../wire/envelope-codec.ts'
import { replayBlocks } from '../replay-blocks.ts'

/** Enough to keep the log busy during disk writes, few enough to resend quickly. */
const MAX_UNACKNOWLEDGED = 128
/** The index can be rebuilt from the log, so it is not committed with every block. */
export const MAX_UNCOMMITTED = 2_048

export type IndexStore = Pick<StateStore, 'commit' | 'position' | 'clear'>

export type AppendParts = {
  readonly chain: string
  readonly log: ChainLog
  readonly archive: Pick<BlockArchive, 'read'>
  readonly index: ReaderIndex
  readonly store: IndexStore
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Retries while the connection is down. */
export function retryOpening<T>({ logger, signal }: AppendParts, open: () => Promise<T>): Promise<T> {
  return retry(open, {
    signal,
    isRetryable: (error) => !(error instanceof ChaintapeError),
    onRetry: (error, attempt) => logger.warn({ err: error, attempt }, 'Open of BLOCKS failed; retrying'),
  })
}

/** An index that covers messages which the log does not hold is cleared and rebuilt from the log. */
export async function clearIfForeign(parts: AppendParts, isAheadForeign = false): Promise<void> {
  const { log, index, store, logger } = parts
  const { position } = store
  // Reading a recreated log fails with its own error.
  if (position?.epoch !== log.epoch) return
  const standing = await log.locate(position)
  if (standing !== 'foreign' && !(isAheadForeign && standing === 'ahead')) return
  const end = await log.lastSequence()
  logger.error(
    { code: 'log_truncated', seq: position.sequence, end },
    'Rebuilding the reader index from the log',
  )
  store.clear()
  index.abandon()
}

/** Opens the publisher at the end of the log, and brings the index up to there. */
export async function continueLog(parts: AppendParts): Promise<LogPublisher> {
  const { chain, log, index, store, signal } = parts
  index.abandon()
  // The fence is in place before the index catches up, so our publish fails if another reader appends after it.
  const publisher = await log.openPublisher()
  const end = await log.lastSequence()
  // A frame for a taken sequence would stay in the outbox, and be restored there after a loss.
  if (end > publisher.last.sequence)
    throw new ChaintapeError('fenced', 'BLOCKS: another reader is the leader')
  // An index that follows a log shorter than the publisher's position would leave a gap.
  if (!(await log.holds(publisher.last))) throw new TailLost('BLOCKS', publisher.last.sequence)
  // The outbox could not restore all messages in the index, so the index follows the log and the rest is read from the
  // chain.
  await clearIfForeign(parts, true)
  // After a crash between publish and commit, the log holds messages that the index does not.
  if (end > (store.position?.sequence ?? 0)) {
    let uncommitted = 0
    const { position: after } = store
    for await (const message of replayBlocks(parts, { after, signal, until: end })) {
      const { position } = message
      applyMessage(message, index, chain)
      uncommitted++
      const isEnd = position.sequence >= end
      if (!isEnd && uncommitted < MAX_UNCOMMITTED) continue
      store.commit(index.pending(), position)
      index.committed()
      uncommitted = 0
    }
  }
  return publisher
}

/**
 * The index applies a quarantined block as far as it can be decoded, because the next block refers to it as its parent.
 * Quarantined settings are ignored, as the engine ignores them, so the next leader appends its own.
 */
export function applyMessage(
  { body, position, isQuarantined }: LogMessage,
  index: ReaderIndex,
  chain: string,
): Envelope | undefined {
  try {
    const envelope = decodeEnvelope(body)
    if (isQuarantined && envelope.kind === 'settings') return undefined
    index.apply(envelope)
    return envelope
  } catch (error) {
    if (!isQuarantined)
      throw new PoisonedMessage({ chain, log: 'BLOCKS', sequence: position.sequence }, error)
    return undefined
  }
}

/** Appends to BLOCKS with several messages in flight, and updates the index once they are acknowledged. */
export class Appender {
  readonly #publisher: LogPublisher
  readonly #index: ReaderIndex
  readonly #store: IndexStore
  readonly #underWay: Promise<LogPosition>[] = []
  #last: LogPosition | undefined
  #uncommitted = 0

  constructor(publisher: LogPublisher, index: ReaderIndex, store: IndexStore) {
    this.#publisher = publisher
    this.#index = index
    this.#store = store
  }

  /** Waits only while too many messages are in flight; a later call reports the failure of an earlier one. */
  async append(envelope: Envelope, announcedAt?: number): Promise<void> {
    const publishing = this.#publisher.publish(encodeEnvelope(envelope), announcedAt)
    // The next wait reports it; until then a rejection must not count as unhandled.
    publishing.catch(() => undefined)
    this.#underWay.push(publishing)
    this.#index.apply(envelope)
    this.#uncommitted++
    if (this.#uncommitted >= MAX_UNCOMMITTED) await this.flush()
    else if (this.#underWay.length >= MAX_UNACKNOWLEDGED) this.#last = await this.#underWay.shift()
  }

  /** Waits until all messages are acknowledged and the index is durable up to them. */
  async flush(): Promise<void> {
    for (const publishing of this.#underWay.splice(0)) this.#last = await publishing
    if (this.#last === undefined || this.#uncommitted === 0) return
    this.#store.commit(this.#index.pending(), this.#last)
    this.#index.committed()
    this.#uncommitted = 0
  }
}
