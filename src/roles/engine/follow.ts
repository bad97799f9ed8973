import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { LogPublisher } from '../../log/publisher.ts'
import { TailLost } from '../../log/tail-lost.ts'
import type { ChainFold } from './chain-fold.ts'

const LOOK_EVERY_MS = 50
/** For an engine that has just started and has not seen another one publish: usually there is none. */
const START_PATIENCE_MS = 250

export type FollowParts = {
  readonly changes: ChainLog
  readonly fold: ChainFold
  readonly takeoverMs: number
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Why it took over: no other engine was ever seen to publish, or the leader stopped. */
export type Taken = { readonly publisher: LogPublisher; readonly reason: 'alone' | 'stalled' }

/**
 * Compares what the leader publishes with what this engine folded, until CHANGES stops growing although a set is due;
 * then returns a publisher at the end of CHANGES. Undefined if the signal aborted.
 */
export async function follow(parts: FollowParts, hasSeenOther: boolean): Promise<Taken | undefined> {
  const { changes, fold, takeoverMs, logger } = parts
  const stop = new AbortController()
  const signal = AbortSignal.any([parts.signal, stop.signal])
  // Jitter: one of several standbys should take over first, so that the others see it publish.
  const jitter = 1 + Math.random() / 5
  let hasSeen = hasSeenOther

  const compare = async (): Promise<undefined> => {
    const reading = changes.read({ after: fold.confirmedAt, signal, withQuarantined: true })
    for await (const { body, position, isQuarantined } of reading) {
      hasSeen = true
      while (fold.ahead.length === 0 && !signal.aborted) await fold.changed()
      if (signal.aborted) break
      // Quarantined for readers of CHANGES, it may still be one of ours.
      if (isQuarantined && !fold.expects(body)) continue
      fold.confirm(position, body)
    }
    return undefined
  }

  const watch = async (): Promise<Taken | undefined> => {
    while (!signal.aborted) {
      // It rejects when following has ended, which the loop sees itself.
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
      const patienceMs = hasSeen ? takeoverMs : Math.min(START_PATIENCE_MS, takeoverMs)
      if (signal.aborted || fold.waitedMs < patienceMs * jitter) continue
      const publisher = await openAtEnd(changes, fold, logger)
      if (publisher !== undefined) return { publisher, reason: hasSeen ? 'stalled' : 'alone' }
    }
    return undefined
  }

  const comparing = compare()
  try {
    return await Promise.race([comparing, watch()])
  } finally {
    stop.abort()
    fold.wake()
    await comparing
  }
}

/**
 * Undefined if CHANGES has more than we have read: then not it stood still, but we. Throws if CHANGES has lost sets that
 * this engine cannot restore.
 */
async function openAtEnd(
  changes: ChainLog,
  fold: ChainFold,
  logger: Logger,
): Promise<LogPublisher | undefined> {
  try {
    // The fence stands before we look: whatever another engine appends after it makes ours fail.
    const publisher = await changes.openPublisher()
    const { confirmedAt } = fold
    const end = await changes.lastSequence()
    if (end > (confirmedAt?.seq ?? 0)) return undefined
    if (confirmedAt === undefined || (await changes.holds(confirmedAt))) return publisher
    if (await changes.holds(publisher.last)) throw new TailLost('CHANGES', confirmedAt.seq)
    return undefined
  } catch (error) {
    if (error instanceof ChaintapeError) throw error
    logger.warn({ err: error }, 'Takeover failed; retrying')
    return undefined
  }
}
