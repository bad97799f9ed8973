import { type Gap, GapError } from '../errors.ts'
import { type Buffer, type Entry, EventBuffer, StateBuffer } from './buffer.ts'
import type { CursorStore } from './cursor-store.ts'
import type { Pool } from './pool.ts'
import { Subscription } from './subscription.ts'
import type { PushResult, Rejected, Topic } from './topic.ts'

/** The items of one or more subscriptions, for one consumer. */
export interface Stream<T> extends AsyncIterableIterator<T, undefined> {
  /**
   * The cursor after the item that was delivered last: store it together with the item to resume exactly there. Undefined
   * if the stream has several subscriptions.
   */
  readonly cursor: string | undefined
  /** States that were dropped because the consumer was too slow. Events are never dropped. */
  readonly dropped: number
  /** Stores the cursor of the current item now; otherwise it is stored when the next item is requested. */
  commit(): Promise<void>
  close(): void
  return(): Promise<IteratorResult<T, undefined>>
  [Symbol.asyncIterator](): Stream<T>
}

export type StreamOptions = {
  /** The name of its cursor in the store; by default the topic. */
  readonly name?: string | undefined
  readonly cursors?: CursorStore | undefined
  /** Starts after this cursor, rather than the stored one. */
  readonly resumeFrom?: string | undefined
  /** Events were lost. Without a handler the stream ends with a `GapError`. */
  readonly onGap?: ((gap: Gap) => void) | undefined
  /** Items of the subscription that the gateway does not know; the others are delivered. */
  readonly onRejected?: ((rejected: readonly Rejected[]) => void) | undefined
  /** Items that may wait for the consumer. Default: 10,000. */
  readonly bufferSize?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** How pushes of a topic become items. */
export type StreamPlan<T> = {
  readonly topics: readonly Topic[]
  readonly decode: (result: PushResult, emit: (item: T) => void) => void
  /** Items that the consumer did not ask for. */
  readonly isHidden?: ((item: T) => boolean) | undefined
  /** For states: what a later item replaces. Without it, items are events, of which none is dropped. */
  readonly keyOf?: ((item: T) => string) | undefined
  /** Items that come before the first push, and the cursor after them. Not read if there is a cursor to resume from. */
  readonly history?: ((signal: AbortSignal) => Promise<StreamHistory<T>>) | undefined
}

export type StreamHistory<T> = {
  readonly items: readonly T[]
  readonly cursor: string
  /** Drops items of the replay that the history already has. */
  readonly isNew: (item: T) => boolean
}

type Feed<T> = {
  readonly subscription: Subscription
  readonly name: string
  isPaused: boolean
  isNew?: (item: T) => boolean
}
type Waiting<T> = {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

const BUFFER_SIZE = 10_000
const END = { done: true, value: undefined } as const

export class TopicStream<T> implements Stream<T> {
  readonly #pool: Pool
  readonly #plan: StreamPlan<T>
  readonly #options: StreamOptions
  /** Is delivered before the buffer, and is not part of its capacity. */
  readonly #history = new EventBuffer<T>()
  readonly #buffer: Buffer<T>
  readonly #capacity: number
  readonly #stop = new AbortController()
  #feeds: Feed<T>[] | undefined
  readonly #waiting: Waiting<T>[] = []
  /** The entry that the consumer works on. */
  #current: Entry<T> | undefined
  #stored = Promise.resolve()
  #failure: { readonly error: unknown } | undefined
  #paused = 0
  readonly #onClosed: (stream: TopicStream<T>) => void
  #isDone = false

  constructor(
    pool: Pool,
    plan: StreamPlan<T>,
    options: StreamOptions,
    onClosed: (stream: TopicStream<T>) => void,
  ) {
    if (plan.topics.length > 1 && options.resumeFrom !== undefined)
      throw new TypeError('a stream of several subscriptions has a cursor for each: pass cursors instead')
    this.#pool = pool
    this.#plan = plan
    this.#options = options
    this.#onClosed = onClosed
    this.#capacity = options.bufferSize ?? BUFFER_SIZE
    const { keyOf } = plan
    this.#buffer = keyOf === undefined ? new EventBuffer() : new StateBuffer(keyOf, this.#capacity)
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get cursor(): string | undefined {
    return this.#plan.topics.length > 1 ? undefined : this.#current?.cursor
  }

  get dropped(): number {
    return this.#buffer.dropped
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#isDone) return Promise.resolve(END)
    if (this.#current !== undefined) this.#store(this.#current)
    if (this.#feeds === undefined) this.#start()
    const entry = this.#take()
    if (entry !== undefined) return Promise.resolve(entry)
    if (this.#failure !== undefined) return Promise.reject(this.#endWith(this.#failure.error))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
    })
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.close()
    return Promise.resolve(END)
  }

  async commit(): Promise<void> {
    if (this.#current !== undefined) this.#store(this.#current)
    await this.#stored
  }

  close(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#stop.abort(new Error('the stream is closed'))
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    for (const { subscription } of this.#feeds ?? []) this.#pool.remove(subscription)
    for (const { resolve } of this.#waiting.splice(0)) resolve(END)
    this.#onClosed(this)
  }

  readonly #onAbort = (): void => {
    while ((this.#history.shift() ?? this.#buffer.shift()) !== undefined);
    this.#fail(this.#options.signal?.reason)
  }

  #start(): void {
    const { topics } = this.#plan
    const base = this.#options.name
    this.#feeds = topics.map((topic, index) => ({
      name: base === undefined ? topic.identity : topics.length === 1 ? base : `${base}#${index}`,
      subscription: new Subscription(topic, this.#sinkOf(index)),
      isPaused: false,
    }))
    if (this.#options.signal?.aborted) this.#onAbort()
    else for (const index of topics.keys()) this.#open(index).catch((error: unknown) => this.#fail(error))
  }

  async #open(index: number): Promise<void> {
    const feed = this.#feed(index)
    const { resumeFrom, cursors } = this.#options
    const cursor = resumeFrom ?? (await cursors?.get(feed.name))
    if (cursor !== undefined) feed.subscription.resumeFrom(cursor)
    else if (this.#plan.history !== undefined) {
      const history = await this.#plan.history(this.#stop.signal)
      const last = history.items.length - 1
      // A program that stops within the history has to read it again: there is no cursor in between.
      for (const [at, value] of history.items.entries()) {
        const cursor = at === last ? history.cursor : undefined
        this.#history.push({ done: false, value, cursor, feed: index, gap: undefined })
      }
      this.#wake()
      feed.isNew = history.isNew
      feed.subscription.resumeFrom(history.cursor)
    }
    if (this.#isDone || this.#failure !== undefined) return
    this.#pool.add(feed.subscription)
  }

  #sinkOf(index: number) {
    const { isHidden } = this.#plan
    let cursor: string | undefined
    const emit = (value: T): void => {
      const { isNew } = this.#feed(index)
      if (isNew !== undefined && !isNew(value)) return
      if (isHidden === undefined || !isHidden(value))
        this.#deliver({ done: false, value, cursor, feed: index, gap: undefined })
    }
    return {
      onPush: (result: PushResult, after: string) => {
        cursor = after
        try {
          this.#plan.decode(result, emit)
        } catch (error) {
          // Thrown by a callback of the caller, or by a push that no gateway would send.
          this.#fail(error)
        }
      },
      // Everything before it was delivered, and the consumer is done with it: it waits for more.
      onCheckpoint: (after: string) => {
        if (this.#waiting.length > 0) this.#store({ cursor: after, feed: index })
      },
      onGap: (lost: Omit<Gap, 'stream'>) => {
        const gap = { ...lost, stream: this.#feed(index).name }
        this.#deliver({ done: false, value: undefined as T, cursor: lost.resumedAt, feed: index, gap })
      },
      onRejected: (rejected: readonly Rejected[]) => {
        try {
          this.#options.onRejected?.(rejected)
        } catch (error) {
          this.#fail(error)
        }
      },
      onFailed: (error: unknown) => this.#fail(error),
    }
  }

  #feed(index: number): Feed<T> {
    return this.#feeds?.[index] as Feed<T>
  }

  #deliver(entry: Entry<T>): void {
    if (this.#isDone) return
    this.#buffer.push(entry)
    if (this.#waiting.length > 0) this.#wake()
    else if (this.#plan.keyOf === undefined && this.#buffer.size >= this.#capacity) this.#pause(entry.feed)
  }

  #wake(): void {
    while (this.#waiting.length > 0) {
      const next = this.#take()
      if (next === undefined) return
      this.#waiting.shift()?.resolve(next)
    }
  }

  /** The next item. Gaps before it are reported when the consumer reaches them. */
  #take(): Entry<T> | undefined {
    for (;;) {
      const entry = this.#history.shift() ?? this.#buffer.shift()
      if (entry === undefined) return undefined
      if (this.#paused > 0) this.#unpauseIfRoom()
      if (entry.gap === undefined) {
        this.#current = entry
        return entry
      }
      try {
        if (this.#options.onGap === undefined) throw new GapError(entry.gap)
        this.#options.onGap(entry.gap)
      } catch (error) {
        this.#fail(error)
        return undefined
      }
    }
  }

  #pause(index: number): void {
    const feed = this.#feed(index)
    if (feed.isPaused) return
    feed.isPaused = true
    this.#paused++
    this.#pool.pause(feed.subscription)
  }

  #unpauseIfRoom(): void {
    if (this.#buffer.size > this.#capacity / 4) return
    for (const feed of this.#feeds ?? []) {
      if (!feed.isPaused) continue
      feed.isPaused = false
      this.#paused--
      this.#pool.unpause(feed.subscription)
    }
  }

  #store({ cursor, feed }: Pick<Entry<T>, 'cursor' | 'feed'>): void {
    const { cursors } = this.#options
    if (cursors === undefined || cursor === undefined) return
    try {
      const stored = cursors.set(this.#feed(feed).name, cursor)
      if (stored === undefined) return
      this.#stored = stored
    } catch (error) {
      this.#stored = Promise.reject(error)
    }
    this.#stored.catch((error: unknown) => this.#fail(error))
  }

  /** Items that wait are delivered first. */
  #fail(error: unknown): void {
    if (this.#isDone || this.#failure !== undefined) return
    this.#failure = { error }
    for (const { subscription } of this.#feeds ?? []) this.#pool.remove(subscription)
    // The others end with the stream.
    const waiting = this.#waiting.shift()
    waiting?.reject(this.#endWith(error))
  }

  #endWith(error: unknown): unknown {
    this.#failure = undefined
    this.close()
    return error
  }
}
