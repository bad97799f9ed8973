import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { LogPublisher } from '../../log/publisher.ts'
import { TailLost } from '../../log/tail-lost.ts'
import type { ChainFold } from './chain-fold.ts'

/** Enough to keep the log busy while it writes to disk. */
const MAX_UNACKNOWLEDGED = 64

/**
 * Publishes what is folded, several sets under way at a time, until it is told to stop, another engine has taken the
 * lead, or CHANGES has lost its tail. Nothing has to be taken back then: what the other one publishes is what this one folded.
 */
export async function lead(fold: ChainFold, publisher: LogPublisher, signal: AbortSignal): Promise<void> {
  // The first of them publishes the first of `fold.ahead`, and so on.
  const underWay: Promise<LogPosition>[] = []
  let isLeading = true

  const send = async (): Promise<void> => {
    while (isLeading && !signal.aborted) {
      for (const { bytes } of fold.ahead.slice(underWay.length, MAX_UNACKNOWLEDGED)) {
        const publishing = publisher.publish(bytes)
        // Whoever waits for it below is told; until then a failure must not count as unhandled.
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
    // What was sent before we were told to stop is still waited for: then it need not be folded again.
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
    // Who follows opens CHANGES anew, and that restores it.
    if (!isReplaced && !(error instanceof TailLost) && !signal.aborted) throw error
  } finally {
    isLeading = false
    fold.wake()
    await sending
  }
}
