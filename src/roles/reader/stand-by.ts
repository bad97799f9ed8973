import type { Doorbell } from '../../chain/doorbell.ts'
import { readHead } from '../../chain/link.ts'
import type { ReaderParts } from '../../chain/reader.ts'
import type { BlockRef, Envelope } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { replayBlocks } from '../replay-blocks.ts'
import { type AppendParts, applyMessage, clearIfForeign, MAX_UNCOMMITTED, retryOpening } from './appender.ts'

/** For a reader that finds work right at its start: usually it is the only reader. */
const START_PATIENCE_MS = 250
/**
 * A block of the same height with another hash does not prove a lost leader, because its nodes may be on another
 * branch. The next block decides; only a chain without new blocks takes this long. Otherwise two readers would replace
 * each other.
 */
const FORK_PATIENCE_MS = 60_000
/** A live leader restores a lost tail from its own outbox, so a standby gives it this time. */
const RESTORE_PATIENCE_MS = 10_000

export type StandByParts = AppendParts & {
  /** The chain's head as the nodes currently report it. */
  readonly head: () => Promise<BlockRef>
  readonly doorbell: Doorbell
  readonly pollMs: number
  readonly takeoverMs: number
  readonly onProgress: ReaderParts['onProgress']
  /** Called for each message that the index has applied. */
  readonly onFollowed?: (envelope: Envelope) => void
}

/** `alone`: no other reader was seen to append. `stalled`: the leader stopped. */
export type Takeover = { readonly reason: 'alone' | 'stalled'; readonly waitedMs: number }

/**
 * Follows BLOCKS into this reader's index and watches the chain's head. Returns once a block has been due for
 * `takeoverMs` while the log did not grow; undefined if the signal aborts. A false alarm is harmless, because the fence
 * refuses one of two leaders.
 */
export async function standBy(parts: StandByParts, hasSeenOther: boolean): Promise<Takeover | undefined> {
  const { chain, log, index, store, logger, doorbell, pollMs, takeoverMs, onProgress, onFollowed } = parts
  const start = await retryOpening(parts, async () => {
    await clearIfForeign(parts)
    return { end: await log.lastSequence(), isTailLost: await isTailLost(parts) }
  })
  const stop = new AbortController()
  const signal = AbortSignal.any([parts.signal, stop.signal])
  // Staggers several standbys, so that the others see the first one append.
  const jitter = 1 + Math.random() / 5
  // An empty log has no leader to wait for.
  const startPatienceMs = start.end === 0 ? 0 : Math.min(START_PATIENCE_MS, takeoverMs)
  let hasSeen = hasSeenOther
  let mayBeAlone = !hasSeenOther
  let { isTailLost: mustRestore } = start
  let dueSinceMs: number | undefined
  let wasFork = false
  let read = store.position
  let uncommitted = 0

  const commit = (): void => {
    if (read === undefined || uncommitted === 0) return
    store.commit(index.pending(), read)
    index.committed()
    uncommitted = 0
  }

  const follow = async (): Promise<undefined> => {
    for await (const message of replayBlocks(parts, { after: store.position, signal })) {
      const envelope = applyMessage(message, index, chain)
      read = message.position
      uncommitted++
      if (uncommitted >= MAX_UNCOMMITTED) commit()
      if (envelope !== undefined) onFollowed?.(envelope)
      dueSinceMs = undefined
      mustRestore = false
      if (read.sequence > start.end) hasSeen = true
    }
    return undefined
  }

  /** False if this reader itself stalled, or if the log cannot be read. */
  const isLogSilent = async (waitedMs: number): Promise<boolean> => {
    try {
      if ((await log.lastSequence()) > (read?.sequence ?? 0)) dueSinceMs = undefined
      mustRestore = await isTailLost(parts)
      if (mustRestore && hasSeen && waitedMs < RESTORE_PATIENCE_MS) return false
      return dueSinceMs !== undefined
    } catch (error) {
      if (error instanceof ChaintapeError) throw error
      logger.warn({ err: error }, 'Takeover failed; retrying')
      return false
    }
  }

  const watch = async (): Promise<Takeover | undefined> => {
    while (!signal.aborted) {
      const head = await headOf(parts)
      if (signal.aborted) return undefined
      commit()
      const { tip } = index
      if (head !== undefined) {
        if (tip !== undefined) onProgress({ tip, lagBlocks: Math.max(0, head.number - tip.number) })
        const meaning = readHead(tip, head)
        const isFork = meaning === 'fork' && !mustRestore
        const isDue = mustRestore || meaning === 'ahead' || isFork
        // The leader has had no time yet for the block that decides between two branches.
        if (wasFork && !isFork) dueSinceMs = undefined
        wasFork = isFork
        // The chain has no more blocks than the log, so another reader may have just appended.
        if (!isDue) mayBeAlone = false
        dueSinceMs = isDue ? (dueSinceMs ?? performance.now()) : undefined
      }
      const lostMs = wasFork ? Math.max(FORK_PATIENCE_MS, takeoverMs) : takeoverMs
      const patienceMs = jitter * (mayBeAlone && !hasSeen ? startPatienceMs : lostMs)
      const waitedMs = dueSinceMs === undefined ? 0 : performance.now() - dueSinceMs
      if (head !== undefined && waitedMs >= patienceMs && (await isLogSilent(waitedMs)))
        return signal.aborted ? undefined : { reason: hasSeen ? 'stalled' : 'alone', waitedMs }
      const leftMs = dueSinceMs === undefined ? pollMs : Math.max(0, patienceMs - waitedMs)
      await doorbell.wait(Math.min(pollMs, leftMs || pollMs), signal)
    }
    return undefined
  }

  const following = follow()
  try {
    return await Promise.race([following, watch()])
  } finally {
    stop.abort()
    await following
    commit()
  }
}

async function isTailLost({ log, store: { position } }: StandByParts): Promise<boolean> {
  return position?.epoch === log.epoch && (await log.locate(position)) === 'ahead'
}

/** Undefined while no node answers, because a takeover would not help. */
async function headOf({ head, logger }: StandByParts): Promise<BlockRef | undefined> {
  try {
    return await head()
  } catch (error) {
    if (!(error instanceof ChaintapeError) || !error.retryable) throw error
    logger.warn({ err: error, code: error.code }, 'Standby head poll failed; retrying')
    return undefined
  }
}
