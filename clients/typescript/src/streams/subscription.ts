import { type Gap, StreamError } from '../errors.ts'
import { RPC_CODES } from '../generated/codes.ts'
import { Backoff } from './backoff.ts'
import {
  type Acknowledgement,
  isResumable,
  type Push,
  type PushResult,
  type Rejected,
  type RpcFailure,
  type Topic,
} from './topic.ts'

/** Receives what a subscription delivers. */
export type SubscriptionSink = {
  onPush(result: PushResult, cursor: string): void
  /** Nothing else was pushed up to this cursor. */
  onCheckpoint(cursor: string): void
  onGap(gap: Omit<Gap, 'stream'>): void
  onRejected(rejected: readonly Rejected[]): void
  /** The subscription has ended. */
  onFailed(error: unknown): void
}

/** What to do after a refusal. */
export type Reaction = { readonly retryAfterMs: number } | { readonly error: StreamError }

const PENDING_MS = 1_500
const RATE_LIMITED_MS = 1_000
/** A gateway that lags refuses a cursor of one that does not; after so many refusals it is another installation's. */
const CURSOR_ATTEMPTS = 4

const NAMES = new Map<number, string>(Object.entries(RPC_CODES).map(([name, code]) => [code, name]))

/** One topic that is kept subscribed: its cursor outlives the sockets, and its sequence is checked on each. */
export class Subscription {
  readonly topic: Topic
  readonly #sink: SubscriptionSink
  readonly #backoff = new Backoff()
  /** Everything up to here was received. */
  #cursor: string | undefined
  #seq = 0
  #lost: Omit<Gap, 'stream' | 'resumedAt'> | undefined
  #refusedCursors = 0

  constructor(topic: Topic, sink: SubscriptionSink) {
    this.topic = topic
    this.#sink = sink
  }

  /** Call it before the first request. */
  resumeFrom(cursor: string): void {
    this.#cursor = cursor
  }

  get cursor(): string | undefined {
    return this.#cursor
  }

  /** `params` of the next subscribe request. */
  params(): unknown[] {
    this.#seq = 0
    const checkpoint = isResumable(this.topic)
    const from = checkpoint && this.#lost === undefined ? this.#cursor : undefined
    const place = from === undefined ? { cursor: true } : { from }
    return [...this.topic.params, { reorg: true, ...(checkpoint && { checkpoint }), ...place }]
  }

  acknowledge({ cursor, recovered, reason, rejected = [] }: Acknowledgement): void {
    this.#backoff.reset()
    this.#refusedCursors = 0
    const before = this.#cursor
    this.#cursor = cursor
    if (recovered === false) {
      const message = reason?.message ?? 'the cursor is too old'
      this.#lost = { reason: 'cursor_too_old', message, lostAfter: before ?? '' }
    }
    if (this.#lost !== undefined && cursor !== undefined) {
      const lost = this.#lost
      this.#lost = undefined
      this.#sink.onGap({ ...lost, resumedAt: cursor })
    }
    if (rejected.length > 0) this.#sink.onRejected(rejected)
  }

  /** False if pushes are missing before this one: the subscription has to be resumed. */
  push({ seq, cursor, result }: Push): boolean {
    if (seq !== this.#seq + 1) return false
    this.#seq = seq
    this.#cursor = cursor
    if ('topic' in result && result.topic === 'checkpoint') this.#sink.onCheckpoint(cursor)
    else this.#sink.onPush(result, cursor)
    return true
  }

  /** An error in answer to the request, or one that ended the subscription later. */
  refuse({ code, message, data }: RpcFailure): Reaction {
    const error = new StreamError(message, NAMES.get(code) ?? String(code), data)
    switch (code) {
      case RPC_CODES.cursor_too_old:
        this.#lose('cursor_too_old', message)
        return { retryAfterMs: 0 }
      case RPC_CODES.invalid_params:
        if (data?.option !== 'from') return { error }
        if (++this.#refusedCursors < CURSOR_ATTEMPTS) return { retryAfterMs: this.#backoff.next() }
        this.#lose('cursor_invalid', message)
        return { retryAfterMs: 0 }
      case RPC_CODES.unknown_subject:
        return data?.rejected?.some(({ pending }) => pending) ? { retryAfterMs: PENDING_MS } : { error }
      case RPC_CODES.limit_exceeded:
        return data?.limit === 'replays' ? { retryAfterMs: this.#backoff.next() } : { error }
      case RPC_CODES.rate_limited:
        return { retryAfterMs: RATE_LIMITED_MS }
      case RPC_CODES.internal:
        return { retryAfterMs: this.#backoff.next() }
      default:
        return { error }
    }
  }

  fail(error: unknown): void {
    this.#sink.onFailed(error)
  }

  #lose(reason: Gap['reason'], message: string): void {
    this.#lost = { reason, message, lostAfter: this.#cursor ?? '' }
  }
}
