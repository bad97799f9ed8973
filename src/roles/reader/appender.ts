import type { ReaderIndex } from '../../chain/reader-index.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { encodeEnvelope } from '../../domain/wire/envelope-codec.ts'
import type { LogPublisher } from '../../log/publisher.ts'
import type { StateStore } from '../../store/lmdb/state-store.ts'

/** Enough to keep the log busy while it writes to disk; few enough to be sent again quickly. */
const MAX_UNACKNOWLEDGED = 32
/** The index can always be made again from the log, so it need not be durable with every block. */
const MAX_UNCOMMITTED = 256

/** Appends to BLOCKS, several messages under way at a time, and lets the index follow what was acknowledged. */
export class Appender {
  readonly #publisher: LogPublisher
  readonly #index: ReaderIndex
  readonly #store: Pick<StateStore, 'commit'>
  readonly #underWay: Promise<LogPosition>[] = []
  #last: LogPosition | undefined
  #uncommitted = 0

  constructor(publisher: LogPublisher, index: ReaderIndex, store: Pick<StateStore, 'commit'>) {
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
