import type { ReaderIndex } from '../../chain/reader-index.ts'
import type { Envelope } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { PoisonedMessage } from '../../domain/quarantine.ts'
import { decodeEnvelope, encodeEnvelope } from '../../domain/wire/envelope-codec.ts'
import type { Logger } from '../../lib/logger.ts'
import { retry } from '../../lib/retry.ts'
import type { ChainLog, LogMessage } from '../../log/chain-log.ts'
import type { LogPublisher } from '../../log/publisher.ts'
import { TailLost } from '../../log/tail-lost.ts'
import type { StateStore } from '../../store/lmdb/state-store.ts'

/** Enough to keep the log busy while it writes to disk; few enough to be sent again quickly. */
const MAX_UNACKNOWLEDGED = 128
/** The index can always be made again from the log, so it need not be durable with every block. */
const MAX_UNCOMMITTED = 512

export type IndexStore = Pick<StateStore, 'commit' | 'position' | 'clear'>

export type AppendParts = {
  readonly chain: string
  readonly log: ChainLog
  readonly index: ReaderIndex
  readonly store: IndexStore
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Runs `read` with an appender at the end of the log, and again whenever the log has lost its tail. */
export async function appendToLog(
  parts: AppendParts,
  read: (appender: Appender) => Promise<void>,
): Promise<void> {
  const { logger, signal } = parts
  for (;;) {
    try {
      const publisher = await retry(() => continueLog(parts), {
        signal,
        isRetryable: (error) => !(error instanceof ChaintapeError),
        onRetry: (error, attempt) => logger.warn({ err: error, attempt }, 'Opening BLOCKS again'),
      })
      return await read(new Appender(publisher, parts.index, parts.store))
    } catch (error) {
      if (signal.aborted && !(error instanceof ChaintapeError)) return
      if (!(error instanceof TailLost)) throw error
      logger.error({ err: error, code: error.code }, 'BLOCKS has lost its tail')
    }
  }
}

/** Opens a log to go on where it ends, and brings the index there. */
async function continueLog({ chain, log, index, store, logger, signal }: AppendParts): Promise<LogPublisher> {
  index.abandon()
  // The fence stands before the index follows: whatever another reader appends after it makes ours fail.
  const publisher = await log.openPublisher()
  const end = await log.lastSequence()
  // An index that follows a shorter log than the publisher stands at would leave a hole.
  if (!(await log.holds(publisher.last))) throw new TailLost('BLOCKS', publisher.last.seq)
  const { position } = store
  const standing = position?.epoch === log.epoch ? await log.locate(position) : 'held'
  if (position !== undefined && (standing === 'ahead' || standing === 'foreign')) {
    // The outbox could not restore what the index holds, so the index follows the log, and the chain fills the rest.
    logger.error(
      { code: 'log_truncated', seq: position.seq, end },
      'Rebuilding the reader index from the log',
    )
    store.clear()
    index.abandon()
  }
  // A reader that died between publishing and committing finds the rest of its own words in the log.
  if (end > (store.position?.seq ?? 0)) {
    let uncommitted = 0
    const { position: after } = store
    for await (const message of log.read({ after, signal, withQuarantined: true, until: end })) {
      const { position } = message
      applyMessage(message, index, chain)
      uncommitted++
      const isEnd = position.seq >= end
      if (!isEnd && uncommitted < MAX_UNCOMMITTED) continue
      store.commit(index.pending(), position)
      index.committed()
      uncommitted = 0
    }
  }
  return publisher
}

/** The index follows a quarantined block as far as it can be decoded: the next block names it as its parent. */
export function applyMessage(
  { body, position, isQuarantined }: LogMessage,
  index: ReaderIndex,
  chain: string,
): void {
  try {
    index.apply(decodeEnvelope(body))
  } catch (error) {
    if (!isQuarantined) throw new PoisonedMessage({ chain, log: 'BLOCKS', sequence: position.seq }, error)
  }
}

/** Appends to BLOCKS, several messages under way at a time, and lets the index follow what was acknowledged. */
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

  /** Waits only while too much is under way; what fails is told by a later call. */
  async append(envelope: Envelope): Promise<void> {
    const publishing = this.#publisher.publish(encodeEnvelope(envelope))
    // Whoever waits for it next is told; until then a failure must not count as unhandled.
    publishing.catch(() => undefined)
    this.#underWay.push(publishing)
    this.#index.apply(envelope)
    this.#uncommitted++
    if (this.#uncommitted >= MAX_UNCOMMITTED) await this.flush()
    else if (this.#underWay.length >= MAX_UNACKNOWLEDGED) this.#last = await this.#underWay.shift()
  }

  /** All of it acknowledged, and the index durable up to there. */
  async flush(): Promise<void> {
    for (const publishing of this.#underWay.splice(0)) this.#last = await publishing
    if (this.#last === undefined || this.#uncommitted === 0) return
    this.#store.commit(this.#index.pending(), this.#last)
    this.#index.committed()
    this.#uncommitted = 0
  }
}
