import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import type { HistoryReader } from '../../store/clickhouse/read/history-reader.ts'

const LOOK_EVERY_MS = 2_000

/** Reports an unavailable ClickHouse long before an insert times out, which takes half a minute. Runs until the signal aborts. */
export async function watchHistory(
  reader: Pick<HistoryReader, 'marker'>,
  [chain = '']: readonly string[],
  report: (problem: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await reader.marker(chain)
      report(undefined)
    } catch (error) {
      // Before the first migration the query itself fails.
      const isUnavailable = error instanceof ChaintapeError && error.code === 'store_unavailable'
      report(isUnavailable ? `clickhouse: ${error.message}` : undefined)
    }
    // It rejects when the signal aborts, which the loop sees itself.
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}
