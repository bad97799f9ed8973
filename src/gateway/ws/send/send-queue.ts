import type { GatewayMetrics } from '../../http/metrics.ts'
import type { WsLimits } from '../limits.ts'
import type { JoinedFrames } from './frame.ts'
import type { LiveBlock } from './freshness.ts'
import type { PushEvent } from './push-event.ts'

/** What a frame is made by when its turn has come: only then is known that no newer one has taken its place. */
export type Framer = {
  /** Unique within its socket. */
  readonly serial: number
  readonly frameOf: (event: PushEvent) => Buffer
}

/** What of a stream is used: its `drain` comes once the kernel has taken everything. */
export type FrameSink = {
  readonly writableLength: number
  write(bytes: Buffer): boolean
  once(event: 'drain', listener: () => void): unknown
}

/**
 * Two for each that waits: the framer and the push that it frames when it is written, or nothing and an answer's frame;
 * nothing twice where a newer state took its place. For many readers that lag this is most of what they cost: what
 * they wait for they share.
 */
type Waiting = (Framer | PushEvent | Buffer | undefined)[]

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
/** Places that are free before the others move up. */
const MANY_LEFT = 1_000

/**
 * What one socket has to be sent, in order. Frames that come together are written together. While the client does
 * not keep up, of each state only the newest waits; events all wait, up to a limit that ends the connection.
 */
export class SendQueue {
  readonly #stream: FrameSink
  readonly #owner: SendQueueOwner
  readonly #options: SendQueueOptions
  #waiting: Waiting | undefined
  /** While the client does not keep up: where each state waits, so that it can be replaced. */
  #states: Map<string, number> | undefined
  #left = 0
  #bytes = 0
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
    this.#reportDrained()
  }

  /** An answer: never left out. */
  sendFrame(frame: Buffer): void {
    this.#add(undefined, frame, frame.length)
  }

  push(framer: Framer, key: string, event: PushEvent): void {
    const { size: bytes } = event
    if (!event.isState || !this.#isCongested) {
      this.#add(framer, event, bytes)
      return
    }
    const state = `${framer.serial} ${key} ${event.candle ?? ''}`
    const older = this.#states?.get(state)
    if (older !== undefined) {
      this.#states?.delete(state)
      this.#leaveOut(older)
      this.#options.metrics.conflations.inc()
    }
    // At the end of the queue, so that a client always has everything up to some moment.
    const at = this.#waiting?.length ?? 0
    if (!this.#add(framer, event, bytes)) return
    this.#states ??= new Map()
    this.#states.set(state, at)
    if (this.#left >= MANY_LEFT) this.#moveUp()
  }

  /** Those that write the same at the same time may share what they join, and the time. */
  flush(joined?: JoinedFrames, now?: number): void {
    this.#isWoken = false
    const stream = this.#stream
    const waiting = this.#waiting
    if (this.#isCongested || waiting === undefined || !this.#owner.isOpen) return
    this.#forget()
    stream.write(joinedOf(waiting, joined))
    reportWritten(waiting, now)
    if (stream.writableLength < CONGESTED_BYTES) return
    this.#isCongested = true
    stream.once('drain', () => {
      this.#isCongested = false
      this.flush()
      if (!this.#isCongested) this.#reportDrained()
    })
  }

  /** Whether it waits now. */
  #add(framer: Framer | undefined, content: PushEvent | Buffer, bytes: number): boolean {
    if (this.#isClosed) return false
    if (this.bufferedBytes + bytes > this.#options.limits.maxBufferedBytes) {
      this.#owner.onOverflow()
      return false
    }
    if (this.#waiting === undefined) this.#waiting = [framer, content]
    else this.#waiting.push(framer, content)
    this.#bytes += bytes
    if (this.#isWoken) return true
    this.#isWoken = true
    this.#options.flusher.wake(this)
    return true
  }

  #leaveOut(at: number): void {
    const waiting = this.#waiting as Waiting
    this.#bytes -= (waiting[at + 1] as PushEvent).size
    waiting[at] = undefined
    waiting[at + 1] = undefined
    this.#left++
  }

  #moveUp(): void {
    const waiting = this.#waiting ?? []
    const moved: Waiting = []
    const places = new Map<number, number>()
    for (let at = 0; at < waiting.length; at += 2) {
      if (waiting[at + 1] === undefined) continue
      places.set(at, moved.length)
      moved.push(waiting[at], waiting[at + 1])
    }
    for (const [state, at] of this.#states ?? []) this.#states?.set(state, places.get(at) as number)
    this.#waiting = moved
    this.#left = 0
  }

  #forget(): void {
    this.#waiting = undefined
    this.#states = undefined
    this.#left = 0
    this.#bytes = 0
  }

  #reportDrained(): void {
    const all = this.#onDrained ?? []
    this.#onDrained = undefined
    for (const resolve of all) resolve()
  }
}

function joinedOf(waiting: Waiting, joined: JoinedFrames | undefined): Buffer {
  if (waiting.length === 2) return frameAt(waiting, 0)
  const frames: Buffer[] = []
  for (let at = 0; at < waiting.length; at += 2) {
    if (waiting[at + 1] !== undefined) frames.push(frameAt(waiting, at))
  }
  return joined?.of(frames) ?? Buffer.concat(frames)
}

/** Once per block, because a socket gets many pushes of one block and writes them together. */
function reportWritten(waiting: Waiting, now: number | undefined): void {
  let reported: LiveBlock | undefined
  for (let at = 0; at < waiting.length; at += 2) {
    if (waiting[at] === undefined) continue
    const { live } = waiting[at + 1] as PushEvent
    if (live === undefined || live === reported) continue
    live.written(now ?? Date.now())
    reported = live
  }
}

function frameAt(waiting: Waiting, at: number): Buffer {
  const framer = waiting[at] as Framer | undefined
  const content = waiting[at + 1]
  return framer === undefined ? (content as Buffer) : framer.frameOf(content as PushEvent)
}
