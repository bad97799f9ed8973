import type { ChainHead } from '../../domain/chain-head.ts'
import type { HistoryStore } from '../../store/clickhouse/history-store.ts'
import { rowsOf, type TableRows } from '../../store/clickhouse/rows.ts'
import { StoreLost, type WrittenStore } from './store-writer.ts'

/** ClickHouse: data rows, then the marker. A server that lost its disk is written again from the marker it has now. */
export function historySide(
  stored: string,
  history: Pick<HistoryStore, 'marker' | 'write' | 'commit'>,
  countRows: (table: string, count: number) => void,
): WrittenStore<readonly TableRows[]> {
  let committed: ChainHead | undefined
  /** After a failure the server may be another one, restored from a backup. */
  let isSuspect = false

  const look = async (): Promise<void> => {
    const marker = await history.marker(stored)
    if ((marker?.seq ?? -1) < (committed?.seq ?? -1)) throw new StoreLost()
    isSuspect = false
  }

  return {
    name: 'clickhouse',
    open: async () => {
      committed = await history.marker(stored)
      isSuspect = false
      return committed
    },
    contentsOf: rowsOf,
    look,
    write: async (rows, head) => {
      if (isSuspect) await look()
      isSuspect = true
      const counts = await history.write(rows)
      await history.commit(head)
      committed = head
      isSuspect = false
      for (const [table, count] of Object.entries(counts)) countRows(table, count)
    },
  }
}
