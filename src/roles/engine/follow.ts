import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { LogPublisher } from '../../log/publisher.ts'
import { TailLost } from '../../log/tail-lost.ts'
import type { ChainFold } from './chain-fold.ts'

const POLL_INTERVAL_MS = 50
/** Shorter than a takeover: an engine that starts and sees no other publish is usually the only one. */
const START_TIMEOUT_MS = 250

export type FollowParts = {
  readonly changes: ChainLog
  readonly fold: ChainFold
  readonly takeoverMs: number
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** `alone`: no other engine has published since the start; `stalled`: the leader stopped publishing. */
export type Takeover = { readonly publisher: LogPublisher; readonly reason: 'alone' | 'stalled' }

/**
 * Compares the leader's change sets with this engine's until CHANGES stops growing while a set is due, then returns a
 * publisher at the end of CHANGES. Undefined if the signal aborted.
 */
export async function follow(parts: FollowParts, hasSeenOther: boolean): Promise<Takeover | undefined> {
  const { changes, fold, takeoverMs, logger } = parts
  const stop = new AbortController()
  const signal = AbortSignal.any([parts.signal, stop.signal])
  // Jitter: one of several standbys should take over first, so that the others see it publish.
  const jitter = 1 + Math.random() / 5
  let hasSeen = hasSeenOther
  let isFailing = false

  const compare = async (): Promise<undefined> => {
    const reading = changes.read({ after: fold.confirmedAt, signal, withQuarantined: true })
    for await (const { body, position, isQuarantined } of reading) {
      hasSeen = true
      while (fold.ahead.length === 0 && !signal.aborted) await fold.changed()
      if (signal.aborted) break
      // Readers of CHANGES skip a quarantined set, but this engine may have folded it.
      if (isQuarantined && !fold.expects(body)) continue
      fold.confirm(position, body)
    }
    return undefined
  }

  const watch = async (): Promise<Takeover | undefined> => {
    while (!signal.aborted) {
      // The sleep rejects on abort; the loop condition ends the loop.
      await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
      const timeoutMs = hasSeen ? takeoverMs : Math.min(START_TIMEOUT_MS, takeoverMs)
      if (signal.aborted || fold.waitedMs < timeoutMs * jitter) continue
      try {
        const publisher = await openAtEnd(changes, fold)
        if (publisher !== undefined) return { publisher, reason: hasSeen ? 'stalled' : 'alone' }
        isFailing = false
      } catch (error) {
        if (error instanceof ChaintapeError) throw error
        // Once: while NATS is away, there are twenty attempts a second.
        if (!isFailing) logger.warn({ err: error }, 'Takeover failed; retrying')
        isFailing = true
      }
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
 * Undefined if CHANGES has sets that this engine has not read: this engine lags, and the leader has not stalled. Throws
 * if CHANGES has lost sets that this engine cannot restore.
 */
async function openAtEnd(changes: ChainLog, fold: ChainFold): Promise<LogPublisher | undefined> {
  // Fence first, then check the end: a set that another engine appends in between makes our publish fail.
  const publisher = await changes.openPublisher()
  const { confirmedAt } = fold
  const end = await changes.lastSequence()
  if (end > (confirmedAt?.sequence ?? 0)) return undefined
  if (confirmedAt === undefined || (await changes.holds(confirmedAt))) return publisher
  if (await changes.holds(publisher.last)) throw new TailLost('CHANGES', confirmedAt.sequence)
  return undefined
}
