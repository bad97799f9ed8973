import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream'
import { decodeFrame } from '../wire/frame.ts'
import { findMessage } from './find-message.ts'
import { withPermission } from './permissions.ts'

/** Sequences of the first and last frame, and the bytes of all. */
export type LogSize = { readonly bytes: number; readonly first: number; readonly last: number }

/** Drops the oldest messages of a log. */
export class LogTrimmer {
  readonly #manager: JetStreamManager
  readonly #stream: string

  constructor(manager: JetStreamManager, stream: string) {
    this.#manager = manager
    this.#stream = stream
  }

  async size(): Promise<LogSize> {
    const { bytes, first_seq, last_seq } = (await this.#manager.streams.info(this.#stream)).state
    return { bytes, first: first_seq, last: last_seq }
  }

  /** The sequence of the last frame that was stored before a time. */
  async lastBefore(time: Date): Promise<number> {
    const { first, last } = await this.size()
    let [before, from] = [first - 1, last + 1]
    while (from - before > 1) {
      const middle = Math.floor((before + from) / 2)
      const frame = await this.#find(middle)
      // A missing one was dropped meanwhile, so it is older than all that is left.
      if (frame === undefined || frame.time < time) before = middle
      else from = middle
    }
    return before
  }

  /**
   * Drops all messages up to a sequence, but never a part of a message, nor the last one, which says where the log
   * continues. Returns the sequence up to which the log is empty.
   */
  async trim(upTo: number): Promise<number> {
    const { first, last } = await this.size()
    const lastStart = await this.#startOf(last)
    // The message that holds the first frame to keep begins here.
    const kept = await this.#startOf(Math.min(upTo + 1, lastStart ?? first))
    if (kept === undefined || kept <= first) return first - 1
    await withPermission(() => this.#manager.streams.purge(this.#stream, { seq: kept }))
    return kept - 1
  }

  /** The sequence of the first frame of the message that holds this one. */
  async #startOf(sequence: number): Promise<number | undefined> {
    const frame = await this.#find(sequence)
    return frame && sequence - decodeFrame(frame.data).part
  }

  #find(seq: number): Promise<StoredMsg | undefined> {
    return findMessage(this.#manager, this.#stream, { seq })
  }
}
