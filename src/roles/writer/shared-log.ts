import type { FoldedChain } from '../../domain/generation.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { FIRST_LINK } from '../../wire/frame.ts'
import { type IndexedMessage, LogReader, type ReadLog } from './log-reader.ts'

/**
 * One chain's CHANGES, read for several stores. Stores that stand close together share a reader, so that each message is fetched,
 * verified, decompressed and indexed once. A store that starts elsewhere or has fallen behind reads alone, from its own position,
 * until another store's reader holds everything that comes next; then it joins that reader.
 */
export class SharedLog {
  readonly #folded: FoldedChain
  readonly #log: ReadLog
  /** Changes that a reader holds for the slower of its stores. */
  readonly #room: number
  readonly #readers = new Set<LogReader>()

  constructor(folded: FoldedChain, log: ReadLog, room: number) {
    this.#folded = folded
    this.#log = log
    this.#room = room
  }

  /** All messages after a position, then whatever is appended, until the signal aborts. */
  async *read(options: {
    readonly after: LogPosition | undefined
    readonly signal: AbortSignal
  }): AsyncGenerator<IndexedMessage, void, undefined> {
    const { after, signal } = options
    const store = Symbol('store')
    let position = after ?? { epoch: this.#log.epoch, sequence: 0, link: FIRST_LINK }
    let reader = this.#open(store, position)
    const wake = (): void => reader.wake()
    signal.addEventListener('abort', wake)
    try {
      while (!signal.aborted) {
        if (!reader.has(store)) reader = this.#open(store, position)
        const message = reader.take(store)
        if (message !== undefined) {
          position = message.position
          yield message
          continue
        }
        const other = reader.members === 1 ? this.#join(store, position, reader) : undefined
        if (other === undefined) await reader.more()
        else {
          const own = reader
          reader = other
          await this.#leave(store, own)
        }
      }
    } finally {
      signal.removeEventListener('abort', wake)
      await this.#leave(store, reader)
    }
  }

  #open(store: symbol, position: LogPosition): LogReader {
    const shared = this.#join(store, position)
    if (shared !== undefined) return shared
    const own = new LogReader(this.#folded, this.#log, position, this.#room)
    own.join(store, position)
    this.#readers.add(own)
    return own
  }

  #join(store: symbol, position: LogPosition, own?: LogReader): LogReader | undefined {
    for (const reader of this.#readers) if (reader !== own && reader.join(store, position)) return reader
    return undefined
  }

  async #leave(store: symbol, reader: LogReader): Promise<void> {
    reader.leave(store)
    if (reader.members > 0 || !this.#readers.delete(reader)) return
    await reader.close()
  }
}
