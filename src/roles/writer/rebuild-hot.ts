import type { ChainHead } from '../../domain/chain-head.ts'
import type { HistoryReader } from '../../store/clickhouse/read/history-reader.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'

export type RebuildParts = {
  readonly reader: Pick<HistoryReader, 'latest'>
  readonly hot: Pick<HotStore, 'rebuild'>
}

/**
 * Fills Redis from ClickHouse, as it stands at the marker. A row that a version above the marker has replaced is not
 * found; the writer applies that version next, as it continues from the marker.
 */
export async function rebuildHot(marker: ChainHead, { reader, hot }: RebuildParts): Promise<void> {
  const { chain, seq: upTo } = marker
  await hot.rebuild(marker, (scope) => reader.latest({ ...scope, chain, upTo }))
}
