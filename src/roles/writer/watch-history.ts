import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import type { HistoryReader } from '../../store/clickhouse/read/history-reader.ts'

const LOOK_EVERY_MS = 2_000

export type HistoryHooks = {
  readonly report: (problem: string | undefined) => void
  /** Called with the number since the server was started. */
  readonly onCorruptions: (count: number) => void
}

/**
 * Reports an unavailable ClickHouse long before an insert times out, which takes half a minute, and one that finds corrupted
 * data. Runs until the signal aborts.
 */
export async function watchHistory(
  reader: Pick<HistoryReader, 'marker' | 'corruptions'>,
  [chain = '']: readonly string[],
  { report, onCorruptions }: HistoryHooks,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await reader.marker(chain)
      report(undefined)
      onCorruptions(await reader.corruptions())
    } catch (error) {
      // Before the first migration the query itself fails.
      const isUnavailable = error instanceof ChaintapeError && error.code === 'store_unavailable'
      report(isUnavailable ? `clickhouse: ${error.message}` : undefined)
    }
    // It rejects when the signal aborts, which the loop sees itself.
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}
