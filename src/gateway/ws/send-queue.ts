import type { GatewayMetrics } from '../metrics.ts'
import type { JoinedFrames } from './frame.ts'
import type { WsLimits } from './limits.ts'
import type { PushEvent } from './push-event.ts'

/** What a frame is made by when its turn has come: only then is known that no newer one has taken its place. */
export type Framer = {
  /** Tells it from all others of the same socket. */
  readonly serial: number
  readonly size: (event: PushEvent) => number
  readonly frameOf: (event: PushEvent) => Buffer
}

/** What of a stream is used: its `drain` comes once the kernel has taken everything. */
export type FrameSink = {
  readonly writableLength: number
  write(bytes: Buffer): boolean
  once(event: 'drain', listener: () => void): unknown
}

/** An answer, or a push that is framed when it is written. */
type Waiting =
  | { readonly bytes: number; readonly frame: Buffer; readonly framer?: undefined }
  | { readonly bytes: number; readonly framer: Framer; readonly event: PushEvent }

/** The one whose socket it is. */
export type SendQueueOwner = {
  /** Nothing may follow the goodbye of either side. */
  readonly isOpen: boolean
  onOverflow(): void
}

/** The same for all sockets. */
export type SendQueueOptions = {
  /** What is not yet taken by the client's side of the connection, waiting here included. */
  readonly limits: Pick<WsLimits, 'maxBufferedBytes'>
  readonly metrics: Pick<GatewayMetrics, 'conflations'>
  /** Calls `flush` once the present work is done. */
  readonly flusher: { wake(queue: SendQueue): void }
}

/** As long as the stream holds so much that the kernel does not take, nothing more is handed to it. */
const CONGESTED_BYTES = 128 * 1_024

/**
 * What one socket has to be sent, in order. Frames that come together are written together. While the client does
 * not keep up, of each state only the newest waits; events all wait, up to a limit that ends the connection.
 */
export class SendQueue {
  readonly #stream: FrameSink
  readonly #owner: SendQueueOwner
  readonly #options: SendQueueOptions
  /** While the client keeps up. */
  #next: Waiting[] | undefined
  /** While it does not: states by their key, so that they can be replaced; everything else by a number of its own. */
  #late: Map<string | number, Waiting> | undefined
  #bytes = 0
  #count = 0
  #isWoken = false
  #isCongested = false
  #isClosed = false
  #onDrained: (() => void)[] | undefined

  constructor(stream: FrameSink, owner: SendQueueOwner, options: SendQueueOptions) {
    this.#stream = stream
    this.#owner = owner
    this.#options = options
  }

  /** Not yet taken by the other side. */
  get bufferedBytes(): number {
    return this.#bytes + this.#stream.writableLength
  }

  /** Resolves once more may be sent without piling it up. */
  async drained(): Promise<void> {
    this.flush()
    if (!this.#isCongested || this.#isClosed) return
    await new Promise<void>((resolve) => {
      this.#onDrained ??= []
      this.#onDrained.push(resolve)
    })
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#isClosed = true
    this.#forget()
    this.#tellDrained()
  }

  /** An answer: never left out. */
  sendFrame(frame: Buffer): void {
    this.#add({ bytes: frame.length, frame })
  }

  push(framer: Framer, key: string, event: PushEvent): void {
    const waiting = { bytes: framer.size(event), framer, event }
    if (!event.isState || !this.#isCongested) {
      this.#add(waiting)
      return
    }
    const place = `${framer.serial} ${key} ${event.candle ?? ''}`
    const older = this.#late?.get(place)
    if (older !== undefined) {
      this.#late?.delete(place)
      this.#bytes -= older.bytes
      this.#options.metrics.conflations.inc()
    }
    // At the end: what a client was told is then always everything up to some moment.
    this.#add(waiting, place)
  }

  /** Those that write the same at the same time may share what they join. */
  flush(joined?: JoinedFrames): void {
    this.#isWoken = false
    const stream = this.#stream
    if (this.#isCongested || (this.#next === undefined && this.#late === undefined)) return
    if (!this.#owner.isOpen) return
    stream.write(this.#take(joined))
    if (stream.writableLength < CONGESTED_BYTES) return
    this.#isCongested = true
    stream.once('drain', () => {
      this.#isCongested = false
      this.flush()
      if (!this.#isCongested) this.#tellDrained()
    })
  }

  #take(joined: JoinedFrames | undefined): Buffer {
    const late = this.#late
    const next = this.#next
    this.#forget()
    if (next?.length === 1 && late === undefined) return frameOf(next[0] as Waiting)
    const frames: Buffer[] = []
    for (const waiting of late?.values() ?? []) frames.push(frameOf(waiting))
    for (const waiting of next ?? []) frames.push(frameOf(waiting))
    return joined?.of(frames) ?? Buffer.concat(frames)
  }

  #add(waiting: Waiting, place?: string): void {
    if (this.#isClosed) return
    if (this.bufferedBytes + waiting.bytes > this.#options.limits.maxBufferedBytes) {
      this.#owner.onOverflow()
      return
    }
    if (this.#isCongested) {
      this.#late ??= new Map()
      this.#late.set(place ?? ++this.#count, waiting)
    } else if (this.#next === undefined) this.#next = [waiting]
    else this.#next.push(waiting)
    this.#bytes += waiting.bytes
    if (this.#isWoken) return
    this.#isWoken = true
    this.#options.flusher.wake(this)
  }

  #forget(): void {
    this.#next = undefined
    this.#late = undefined
    this.#bytes = 0
  }

  #tellDrained(): void {
    const all = this.#onDrained ?? []
    this.#onDrained = undefined
    for (const resolve of all) resolve()
  }
}

function frameOf(waiting: Waiting): Buffer {
  return waiting.framer === undefined ? waiting.frame : waiting.framer.frameOf(waiting.event)
}
