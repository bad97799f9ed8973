import { ChaintapeError } from '../../domain/errors.ts'
import { TailLost } from '../../log/tail-lost.ts'
import { Appender, continueLog, retryOpening } from './appender.ts'
import { type StandByParts, standBy, type Takeover } from './stand-by.ts'

export type TurnParts = StandByParts & {
  /** Called when this reader becomes the standby or the leader. */
  readonly onTurn?: (turn: 'follows' | Takeover['reason']) => void
}

/**
 * Alternates between standby and leader: leads once BLOCKS is silent although the chain advances, until another reader
 * appends. `lead` gets an appender at the end of the log, and a new one whenever the log has lost its tail. `dueSince`:
 * when it took over from a leader that stalled, the time at which it first heard of the next block.
 */
export async function takeTurns(
  parts: TurnParts,
  lead: (appender: Appender, dueSince: number | undefined) => Promise<void>,
): Promise<void> {
  const { index, store, logger, signal, onTurn } = parts
  let isLeading = false
  let isReplaced = false
  let dueSince: number | undefined
  while (!signal.aborted) {
    try {
      // Uncommitted messages may never have been stored.
      index.abandon()
      if (!isLeading) {
        onTurn?.('follows')
        const at = { tip: index.tip?.number, log_seq: store.position?.sequence }
        logger.info({ reason: isReplaced ? 'replaced' : 'started', ...at }, 'Reader is standby')
        const takeover = await standBy(parts, isReplaced)
        if (takeover === undefined) return
        isLeading = true
        const { reason, waitedMs } = takeover
        dueSince = reason === 'stalled' ? Date.now() - Math.round(waitedMs) : undefined
        onTurn?.(reason)
        const from = { tip: index.tip?.number, log_seq: store.position?.sequence }
        logger.info({ reason, waited_ms: Math.round(waitedMs), ...from }, 'Reader is leader')
      }
      const publisher = await retryOpening(parts, () => continueLog(parts))
      return await lead(new Appender(publisher, index, store), dueSince)
    } catch (error) {
      if (signal.aborted && !(error instanceof ChaintapeError)) return
      if (error instanceof TailLost) logger.error({ err: error, code: error.code }, 'BLOCKS tail lost')
      else if (error instanceof ChaintapeError && error.code === 'fenced') {
        isLeading = false
        isReplaced = true
      } else throw error
    }
  }
}
