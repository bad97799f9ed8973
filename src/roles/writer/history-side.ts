import type { HistoryStore } from '../../store/clickhouse/history-store.ts'
import { rowsOf, type TableRows } from '../../store/clickhouse/rows.ts'
import type { WriterMetrics } from './metrics.ts'
import type { WrittenStore } from './store-writer.ts'

/** ClickHouse: data rows, then the marker. */
export function historySide(
  chain: string,
  history: Pick<HistoryStore, 'marker' | 'write' | 'commit'>,
  metrics: Pick<WriterMetrics, 'rows'>,
): WrittenStore<readonly TableRows[]> {
  return {
    name: 'clickhouse',
    open: () => history.marker(chain),
    contentsOf: rowsOf,
    write: async (rows, head) => {
      const counts = await history.write(rows)
      await history.commit(head)
      for (const [table, count] of Object.entries(counts)) metrics.rows.inc({ chain, table }, count)
    },
  }
}
