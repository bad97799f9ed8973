import { ChaintapeError } from '../domain/errors.ts'
import type { LogPosition } from '../domain/log-position.ts'
import type { Logger } from '../lib/logger.ts'
import type { ChainLog, LogMessage } from '../log/chain-log.ts'
import { TailLost } from '../log/tail-lost.ts'
import type { BlockArchive } from '../store/clickhouse/block-archive.ts'

export type ReplayParts = {
  readonly chain: string
  readonly log: Pick<ChainLog, 'epoch' | 'read' | 'isQuarantined'>
  readonly archive: Pick<BlockArchive, 'read'>
  readonly logger: Logger
}

/**
 * All messages of BLOCKS after a position, quarantined ones included, as one sequence: those that the log has dropped
 * come from the archive. Ends like `ChainLog.read`.
 */
export async function* replayBlocks(
  { chain, log, archive, logger }: ReplayParts,
  options: { readonly after: LogPosition | undefined; readonly signal: AbortSignal; readonly until?: number },
): AsyncGenerator<LogMessage, void, undefined> {
  const { signal, until } = options
  let last = options.after
  for (;;) {
    try {
      for await (const message of log.read({ ...options, after: last, withQuarantined: true })) {
        last = message.position
        yield message
      }
      return
    } catch (error) {
      // A slow reader gets here several times.
      if (!isTruncation(error)) throw error
      logger.info({ seq: last?.sequence ?? 0 }, 'Reading BLOCKS from the archive')
      const before = last?.sequence ?? 0
      for await (const { body, position } of archive.read(chain, log.epoch, before)) {
        if (signal.aborted) return
        last = position
        const isQuarantined = log.isQuarantined(position.sequence)
        yield isQuarantined ? { body, position, isQuarantined } : { body, position }
        if (position.sequence === until) return
      }
      if ((last?.sequence ?? 0) === before) throw error
    }
  }
}

function isTruncation(error: unknown): boolean {
  // A lost tail is not in the archive either: its writer restores it.
  return error instanceof ChaintapeError && error.code === 'log_truncated' && !(error instanceof TailLost)
}
