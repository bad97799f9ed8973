import type { EventRef } from '../../../domain/change.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { FeedPosition } from '../../market/read-position.ts'
import { withUnknown } from '../../shape/unknown-in-push.ts'
import type { TopicName } from '../topic.ts'
import { deflate, MESSAGE_END, storedBlock } from './deflate.ts'
import { compressedFrame, textFrame } from './frame.ts'

/** Where in the chain's changes a push stands. */
export type PushPlace = {
  readonly chain: string
  /** Counts change sets; a snapshot that took in everything up to one makes pushes of it superfluous. */
  readonly seq: number
  /** Where the set's message follows in the log. */
  readonly origin: FeedPosition
  /** Number of the set's changes that are published with this push and before it. */
  readonly published: number
  /** The event that it publishes, if history has it too. */
  readonly event?: Pick<EventRef, 'time' | 'key'>
}

/**
 * What kind of receivers an event is encoded for: without options exactly the interface document's fields, with options also
 * which of them are unknown, and with the option `reorg` the revision of a candle.
 */
export type Shape = 'document' | 'extended' | 'revised'

export type PushParts = {
  readonly topic: TopicName
  readonly place: PushPlace
  /** A newer one of the same key says all that this one says. */
  readonly isState: boolean
  /** Start of the candle: a later candle does not replace the close of an earlier one. */
  readonly candle?: number | undefined
  /** Left out of the one message that the document shows without it. */
  readonly sentTime: number | undefined
  readonly build: (shape: Shape) => object
}

/** Its frames by the id of the subscribe request. */
type Encoded = {
  readonly result: Buffer
  readonly frames: Map<number, Buffer>
  /** The result and what follows it, compressed for all receivers that take it; null: not worth it. */
  deflated: Buffer | null | undefined
  compressedFrames: Map<number, Buffer> | undefined
}

const ENVELOPE_BYTES = 64
/** Smaller ones gain next to nothing. */
const LEAST_COMPRESSED_BYTES = 256

/**
 * One push, encoded once for each shape and framed once for each request id, however many receive it. Compressed it is once,
 * too: what differs by receiver (its id, number and cursor) stands in blocks of its own that are not compressed.
 */
export class PushEvent {
  readonly topic: TopicName
  readonly place: PushPlace
  readonly isState: boolean
  readonly candle: number | undefined
  #build: PushParts['build'] | undefined
  readonly #sentTime: string
  readonly #encodings = new Map<Shape, Encoded>()

  constructor({ topic, place, isState, candle, sentTime, build }: PushParts) {
    this.topic = topic
    this.place = place
    this.isState = isState
    this.candle = candle
    this.#build = build
    this.#sentTime = sentTime === undefined ? '' : `,"sent_time":${sentTime}`
  }

  /**
   * Call after the push was offered to all subscribers; those that took it have asked for its size, which encodes it. A push that
   * waits long to be written then retains only its bytes, not the change set.
   */
  seal(): void {
    this.#build = undefined
  }

  /** Fast subscribers have been written to. A late one gets its own frame, so that one push does not retain those of all. */
  forgetFrames(): void {
    for (const { frames, compressedFrames } of this.#encodings.values()) {
      frames.clear()
      compressedFrames?.clear()
    }
  }

  /** Approximate size of its frame. */
  size(shape: Shape): number {
    return this.#encoded(shape).result.length + ENVELOPE_BYTES
  }

  /** The id is that of the subscribe request. */
  frame(id: number, shape: Shape, isCompressed = false): Buffer {
    const encoded = this.#encoded(shape)
    const deflated = isCompressed ? this.#deflated(encoded) : null
    if (deflated !== null) return this.#compressedFrame(id, encoded, deflated)
    let frame = encoded.frames.get(id)
    if (frame === undefined) {
      frame = textFrame(headOf(id), encoded.result, this.#tail)
      encoded.frames.set(id, frame)
    }
    return frame
  }

  /** For one receiver alone: its own number and cursor. */
  numberedFrame(id: number, shape: Shape, number: number, cursor: string, isCompressed = false): Buffer {
    const encoded = this.#encoded(shape)
    const own = `,"cursor":"${cursor}","seq":${number}}`
    const deflated = isCompressed ? this.#deflated(encoded) : null
    if (deflated === null) return textFrame(headOf(id), encoded.result, `${this.#sentTime}${own}`)
    const tail = storedBlock(`${this.#sentTime}${own}`)
    return compressedFrame(storedBlock(headOf(id)), deflated, tail, MESSAGE_END)
  }

  #compressedFrame(id: number, encoded: Encoded, deflated: Buffer): Buffer {
    encoded.compressedFrames ??= new Map()
    let frame = encoded.compressedFrames.get(id)
    if (frame === undefined) {
      const tail = storedBlock(this.#tail)
      frame = compressedFrame(storedBlock(headOf(id)), deflated, tail, MESSAGE_END)
      encoded.compressedFrames.set(id, frame)
    }
    return frame
  }

  #deflated(encoded: Encoded): Buffer | null {
    if (encoded.deflated === undefined) {
      const { result } = encoded
      encoded.deflated = result.length < LEAST_COMPRESSED_BYTES ? null : deflate(result)
    }
    return encoded.deflated
  }

  get #tail(): string {
    return `${this.#sentTime}}`
  }

  #encoded(shape: Shape): Encoded {
    const known = this.#encodings.get(shape) ?? this.#encode(shape)
    this.#encodings.set(shape, known)
    return known
  }

  #encode(shape: Shape): Encoded {
    if (this.#build === undefined) {
      throw new ChaintapeError('internal', `a push was sealed before it was ever asked for as ${shape}`)
    }
    const built = this.#build(shape)
    const result = Buffer.from(JSON.stringify(shape === 'document' ? built : withUnknown(built)))
    return { result, frames: new Map(), deflated: undefined, compressedFrames: undefined }
  }
}

function headOf(id: number): string {
  return `{"id":${id},"jsonrpc":"2.0","result":`
}
