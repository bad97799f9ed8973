import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { LogPublisher } from '../../log/publisher.ts'
import { TailLost } from '../../log/tail-lost.ts'
import type { ChainFold } from './chain-fold.ts'

/** Enough to keep the log busy while it writes to disk. */
const MAX_UNACKNOWLEDGED = 64

/**
 * Publishes folded change sets, several in flight at a time, until the signal aborts, another engine takes over, or
 * CHANGES loses its tail. Nothing has to be rolled back then: the other engine publishes what this one folded.
 */
export async function lead(fold: ChainFold, publisher: LogPublisher, signal: AbortSignal): Promise<void> {
  // The first of them publishes the first of `fold.ahead`, and so on.
  const underWay: Promise<LogPosition>[] = []
  let isLeading = true

  const send = async (): Promise<void> => {
    while (isLeading && !signal.aborted) {
      for (const { bytes, announcedAt } of fold.ahead.slice(underWay.length, MAX_UNACKNOWLEDGED)) {
        const publishing = publisher.publish(bytes, announcedAt)
        // The loop below awaits it; until then a failure must not count as unhandled.
        publishing.catch(() => undefined)
        underWay.push(publishing)
        // The loop below may have looked before there was anything to wait for.
        fold.wake()
      }
      await fold.changed()
    }
  }

  const sending = send()
  try {
    // After an abort, still waits for the sets in flight: then they need not be folded again.
    while (!signal.aborted || underWay.length > 0) {
      const oldest = underWay[0]
      if (oldest === undefined) await fold.changed()
      else {
        const position = await oldest
        underWay.splice(0, 1)
        fold.confirm(position)
      }
    }
  } catch (error) {
    const isReplaced = error instanceof ChaintapeError && error.code === 'fenced'
    // A standby opens CHANGES again, which restores it.
    if (!isReplaced && !(error instanceof TailLost) && !signal.aborted) throw error
  } finally {
    isLeading = false
    fold.wake()
    await sending
  }
}
