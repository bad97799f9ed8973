import assert from 'node:assert/strict'
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream'

export type StoredFrame = { readonly data: Uint8Array; readonly id: string }

/** What has to be the last message for this one to be taken. */
export type Expected = { readonly lastSequence: number; readonly lastMsgID?: string }

/** In which order a server looks at what a message says of itself differs, and so does what it remembers. */
export type StreamManners = {
  readonly looksAtIdFirst: boolean
  readonly remembersRefused: boolean
  readonly isReplicated: boolean
}

const NO_MESSAGE_FOUND = 10_037

/** A JetStream stream in memory: what is in it survives every reader. */
export class SimStream {
  readonly frames: StoredFrame[] = []
  /** How often the server came back without its tail. */
  losses = 0
  /** How often a frame was stored where another one had been before. */
  rewrites = 0
  readonly #everStored: Uint8Array[] = []
  readonly manners: StreamManners
  readonly #sequences = new Map<string, number>()

  constructor(manners: StreamManners) {
    this.manners = manners
  }

  store(frame: StoredFrame, expect: Expected): { seq: number; duplicate: boolean } {
    assert.ok(!(this.manners.isReplicated && expect.lastMsgID), 'a cluster is not asked for the last id')
    const known = this.#sequences.get(frame.id)
    const isLastId = expect.lastMsgID === undefined || this.frames.at(-1)?.id === expect.lastMsgID
    const isExpected = this.frames.length === expect.lastSequence && isLastId
    if (known !== undefined && (this.manners.looksAtIdFirst || isExpected)) {
      return { seq: known, duplicate: true }
    }
    if (!isExpected) {
      if (this.manners.remembersRefused && known === undefined) this.#sequences.set(frame.id, 0)
      throw apiError(JetStreamApiCodes.StreamWrongLastSequence, 'wrong last sequence')
    }
    const before = this.#everStored[this.frames.length]
    if (before !== undefined && Buffer.compare(before, frame.data) !== 0) this.rewrites += 1
    this.#everStored[this.frames.length] = frame.data
    this.frames.push(frame)
    this.#sequences.set(frame.id, this.frames.length)
    return { seq: this.frames.length, duplicate: false }
  }

  /** As a server does that had acknowledged them before they were on disk. */
  loseTail(count: number): void {
    this.losses += 1
    for (const { id } of this.frames.splice(Math.max(0, this.frames.length - count)))
      this.#sequences.delete(id)
  }

  read(seq: number): StoredFrame {
    const frame = this.frames[seq - 1]
    if (frame === undefined) throw apiError(NO_MESSAGE_FOUND, 'no message found')
    return frame
  }
}

function apiError(err_code: number, description: string): JetStreamApiError {
  return new JetStreamApiError({ code: 400, err_code, description })
}
