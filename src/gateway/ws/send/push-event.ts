import type { EventRef } from '../../../domain/change.ts'
import type { FeedPosition } from '../../market/read-position.ts'
import { withUnknown } from '../../shape/unknown-in-push.ts'
import type { TopicName } from '../topic.ts'
import { deflate, MESSAGE_END, storedBlock } from './deflate.ts'
import { compressedFrame, textFrame } from './frame.ts'
import type { LiveBlock } from './freshness.ts'

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

/** A push before it is encoded. */
export type PushParts = {
  readonly topic: TopicName
  readonly place: PushPlace
  /** A newer one of the same key says all that this one says. */
  readonly isState: boolean
  /** Start of the candle: a later candle does not replace the close of an earlier one. */
  readonly candle?: number | undefined
  /** Left out of the one message that the document shows without it. */
  readonly sentTime: number | undefined
  /** The live block that it is pushed for; not set for snapshots, replays and corrections. */
  readonly live?: LiveBlock | undefined
  readonly build: (shape: Shape) => object
}

const ENVELOPE_BYTES = 64
/** Smaller ones gain next to nothing. */
const LEAST_COMPRESSED_BYTES = 256

/**
 * One push in one shape, immutable: it is encoded when it is made, so one that waits long to be written retains only its
 * bytes, not the change set. It is framed once for each request id, however many receive it. It is compressed once, too: what
 * differs by receiver (its id, number and cursor) stands in blocks of its own that are not compressed.
 */
export class PushEvent {
  readonly topic: TopicName
  readonly place: PushPlace
  readonly isState: boolean
  readonly candle: number | undefined
  readonly shape: Shape
  readonly live: LiveBlock | undefined
  /** Approximate size of its frame. */
  readonly size: number
  readonly #result: Buffer
  readonly #sentTime: string
  /** Caches, by the id of the subscribe request. */
  readonly #frames = new Map<number, Buffer>()
  #compressedFrames: Map<number, Buffer> | undefined
  /** Null: not worth it. */
  #deflated: Buffer | null | undefined

  constructor({ topic, place, isState, candle, sentTime, live, build }: PushParts, shape: Shape) {
    this.topic = topic
    this.place = place
    this.isState = isState
    this.candle = candle
    this.shape = shape
    this.live = live
    const built = build(shape)
    this.#result = Buffer.from(JSON.stringify(shape === 'document' ? built : withUnknown(built)))
    this.size = this.#result.length + ENVELOPE_BYTES
    this.#sentTime = sentTime === undefined ? '' : `,"sent_time":${sentTime}`
  }

  /** Frees memory once fast subscribers have been written to: a late one gets its own frame. */
  evictFrames(): void {
    this.#frames.clear()
    this.#compressedFrames?.clear()
  }

  /** The id is that of the subscribe request. */
  frame(id: number, isCompressed = false): Buffer {
    const deflated = isCompressed ? this.#deflate() : null
    if (deflated !== null) return this.#compressedFrame(id, deflated)
    let frame = this.#frames.get(id)
    if (frame === undefined) {
      frame = textFrame(headOf(id), this.#result, this.#tail)
      this.#frames.set(id, frame)
    }
    return frame
  }

  /** For one receiver alone: its own number and cursor. */
  numberedFrame(id: number, number: number, cursor: string, isCompressed = false): Buffer {
    const own = `,"cursor":"${cursor}","seq":${number}}`
    const deflated = isCompressed ? this.#deflate() : null
    if (deflated === null) return textFrame(headOf(id), this.#result, `${this.#sentTime}${own}`)
    const tail = storedBlock(`${this.#sentTime}${own}`)
    return compressedFrame(storedBlock(headOf(id)), deflated, tail, MESSAGE_END)
  }

  #compressedFrame(id: number, deflated: Buffer): Buffer {
    this.#compressedFrames ??= new Map()
    let frame = this.#compressedFrames.get(id)
    if (frame === undefined) {
      frame = compressedFrame(storedBlock(headOf(id)), deflated, storedBlock(this.#tail), MESSAGE_END)
      this.#compressedFrames.set(id, frame)
    }
    return frame
  }

  #deflate(): Buffer | null {
    if (this.#deflated === undefined) {
      this.#deflated = this.#result.length < LEAST_COMPRESSED_BYTES ? null : deflate(this.#result)
    }
    return this.#deflated
  }

  get #tail(): string {
    return `${this.#sentTime}}`
  }
}

function headOf(id: number): string {
  return `{"id":${id},"jsonrpc":"2.0","result":`
}
