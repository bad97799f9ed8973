import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { Engine } from '../../engine/engine.ts'
import type { LogMessage } from '../../log/chain-log.ts'
import { TailLost } from '../../log/tail-lost.ts'
import type { StateStore } from '../../store/lmdb/state-store.ts'
import { decodeChangeSetHead } from '../../wire/change-codec.ts'
import { COMMIT_EVERY_MS, isCommitDue } from './commit-policy.ts'
import { isSameSet } from './same-set.ts'

/** Limits of the change sets in memory that CHANGES has not confirmed. */
const MAX_AHEAD = 256
const MAX_AHEAD_BYTES = 32_000_000

export type FoldedSet = {
  readonly seq: number
  readonly bytes: Uint8Array
  /** When the reader first heard of the block; published beside the set, not in it. */
  readonly announcedAt?: number | undefined
}
export type FoldStore = Pick<StateStore, 'commit' | 'position'>
export type ChainFoldParts = {
  readonly engine: Engine
  readonly store: FoldStore
  /** The last message of CHANGES; sets up to it are compared, not published again. */
  readonly newest: LogMessage | undefined
  /** Called with the sequence in BLOCKS of each set that is known to be in CHANGES. */
  readonly onConfirmed: (seq: number) => void
}

/**
 * The change sets that are folded but not yet confirmed in CHANGES, and when the state becomes durable. The leader
 * publishes from `ahead`, a standby compares with it; `confirm` is the same for both.
 */
export class ChainFold {
  readonly #parts: ChainFoldParts
  readonly #ahead: FoldedSet[] = []
  #newest: FoldedSet | undefined
  #confirmedAt: LogPosition | undefined
  #folded: LogPosition | undefined
  #aheadBytes = 0
  /** When the oldest uncommitted message was folded; undefined if all are committed. */
  #uncommittedSinceMs: number | undefined
  #waitingSinceMs = 0
  #committedAtMs = Number.NEGATIVE_INFINITY
  #isClosed = false
  #hasFailed = false
  #commitTimer: NodeJS.Timeout | undefined
  /** The error of a commit by the timer. */
  #commitFailure: { readonly error: unknown } | undefined
  #change = Promise.withResolvers<void>()

  constructor(parts: ChainFoldParts) {
    this.#parts = parts
    const { newest, store } = parts
    this.#confirmedAt = newest?.position
    const seq = causeOf(newest)
    const committedSeq = store.position?.sequence ?? 0
    if (isAhead(store, newest)) throw new TailLost('CHANGES', committedSeq)
    if (newest !== undefined && committedSeq < seq) this.#newest = { seq, bytes: newest.body }
  }

  /** Folded but not known to be in CHANGES, oldest first. */
  get ahead(): readonly FoldedSet[] {
    return this.#ahead
  }

  /** The position in CHANGES of the last confirmed set. */
  get confirmedAt(): LogPosition | undefined {
    return this.#confirmedAt
  }

  /** How long the oldest set of `ahead` has been the next one that CHANGES should hold. */
  get waitedMs(): number {
    return this.#ahead.length === 0 ? 0 : performance.now() - this.#waitingSinceMs
  }

  /**
   * Backpressure: folding stops while too much is unconfirmed, or while a commit is overdue, which must wait until
   * everything folded is confirmed.
   */
  get isFull(): boolean {
    if (this.#ahead.length === 0) return false
    if (this.#ahead.length >= MAX_AHEAD || this.#aheadBytes >= MAX_AHEAD_BYTES) return true
    return this.#isCommitDue(this.#uncommittedSinceMs)
  }

  /** Resolves when something was folded or confirmed, or `wake` was called. */
  changed(): Promise<void> {
    return this.#change.promise
  }

  wake(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  #mustBeAbleToCommit(): void {
    if (this.#commitFailure !== undefined) throw this.#commitFailure.error
  }

  /** Folds one message of BLOCKS into one of CHANGES. */
  fold(message: Uint8Array, position: LogPosition, announcedAt?: number): Uint8Array {
    return this.#take(
      this.#apply((engine) => engine.apply(message, position.sequence)),
      position,
      announcedAt,
    )
  }

  /** Folds a quarantined message, as far as it can be decoded, without its content. */
  skip(message: Uint8Array, position: LogPosition): Uint8Array {
    return this.#take(
      this.#apply((engine) => engine.skip(message, position.sequence)),
      position,
    )
  }

  /** Whether the engine itself failed at the last message, rather than the log or the store. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Whether this is the next set that CHANGES should hold. */
  expects(body: Uint8Array): boolean {
    const [next] = this.#ahead
    return next !== undefined && isSameSet(next.bytes, body)
  }

  #take(bytes: Uint8Array, position: LogPosition, announcedAt?: number): Uint8Array {
    this.#mustBeAbleToCommit()
    const set = { seq: position.sequence, bytes, announcedAt }
    this.#folded = position
    this.#uncommittedSinceMs ??= performance.now()
    if (this.#newest === undefined) this.#push(set)
    else this.#recognize(this.#newest, set)
    this.wake()
    return bytes
  }

  /** CHANGES holds the oldest set of `ahead` and ends, after it, at `position`; `body` is what was read there. */
  confirm(position: LogPosition, body?: Uint8Array): void {
    this.#mustBeAbleToCommit()
    const set = this.#ahead[0]
    if (set === undefined) throw new Error('no folded change set to confirm')
    if (body !== undefined) expectSame(set, body)
    this.#ahead.shift()
    this.#aheadBytes -= set.bytes.length
    this.#confirmedAt = position
    this.#waitingSinceMs = performance.now()
    this.#confirmed(set.seq)
    this.wake()
  }

  /** Commits if everything folded is confirmed; commits nothing afterwards. */
  close(): void {
    this.#mustBeAbleToCommit()
    if (this.#ahead.length === 0) this.#commit()
    this.abandon()
  }

  /** Rolls back to the last commit, permanently. */
  abandon(): void {
    clearTimeout(this.#commitTimer)
    this.#isClosed = true
    this.#parts.engine.abandon()
  }

  #apply(work: (engine: Engine) => Uint8Array): Uint8Array {
    try {
      return work(this.#parts.engine)
    } catch (error) {
      this.#hasFailed = true
      // A block may be half applied, and must not be committed with earlier ones.
      this.abandon()
      throw error
    }
  }

  #push(set: FoldedSet): void {
    if (this.#ahead.length === 0) this.#waitingSinceMs = performance.now()
    this.#ahead.push(set)
    this.#aheadBytes += set.bytes.length
  }

  /** CHANGES already had this set at startup, published by this engine or another. */
  #recognize(newest: FoldedSet, set: FoldedSet): void {
    if (set.seq >= newest.seq) {
      expectSame(set, newest.bytes)
      this.#newest = undefined
    }
    this.#confirmed(set.seq)
  }

  #confirmed(seq: number): void {
    this.#parts.onConfirmed(seq)
    if (this.#ahead.length > 0) return
    if (this.#isCommitDue(this.#committedAtMs)) this.#commit()
    else {
      const dueInMs = this.#committedAtMs + COMMIT_EVERY_MS - performance.now()
      this.#commitTimer ??= setTimeout(() => this.#commitLater(), dueInMs)
    }
  }

  #isCommitDue(sinceMs = performance.now()): boolean {
    return isCommitDue(this.#parts.engine.uncommittedBytes, performance.now() - sinceMs)
  }

  #commitLater(): void {
    this.#commitTimer = undefined
    // Otherwise the next confirmation finds the commit overdue.
    if (this.#ahead.length > 0) return
    try {
      this.#commit()
    } catch (error) {
      // Nobody awaits a timer, so the next message fails instead.
      this.#commitFailure = { error }
    }
  }

  #commit(): void {
    if (this.#isClosed || this.#folded === undefined || this.#uncommittedSinceMs === undefined) return
    const { engine, store } = this.#parts
    store.commit(engine.pending(), this.#folded)
    engine.committed()
    this.#uncommittedSinceMs = undefined
    this.#committedAtMs = performance.now()
  }
}

/** A set is published before the state that holds it is committed, so a state that is ahead means that CHANGES has lost sets. */
export function isAhead({ position }: Pick<FoldStore, 'position'>, newest: LogMessage | undefined): boolean {
  return (position?.sequence ?? 0) > causeOf(newest)
}

/** The sequence in BLOCKS of the message that caused this set. */
function causeOf(newest: LogMessage | undefined): number {
  return newest === undefined ? 0 : decodeChangeSetHead(newest.body).seq
}

/** Folding the same message twice must give the same set; otherwise the state or the program has changed. */
function expectSame({ seq, bytes }: FoldedSet, published: Uint8Array): void {
  if (isSameSet(bytes, published)) return
  throw new ChaintapeError(
    'diverged',
    `message ${seq} of BLOCKS now folds to changes that differ from the published ones`,
  )
}
