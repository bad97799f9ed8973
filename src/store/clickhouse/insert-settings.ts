import type { ClickHouseSettings } from '@clickhouse/client'

const INSERT_SETTINGS: ClickHouseSettings = {
  // Synchronous inserts, so that a response means the rows are in the table.
  async_insert: 0,
  // Key and seq identify a row; the server's deduplication of recent blocks would only hide a replay.
  insert_deduplicate: 0,
  // A batch that spans many months is slow but valid.
  throw_on_max_partitions_per_insert_block: 0,
}

export function insertSettings(cluster: string | undefined): ClickHouseSettings {
  // A quorum of replicas must have a row before a marker may cover it.
  return cluster === undefined ? INSERT_SETTINGS : { ...INSERT_SETTINGS, insert_quorum: 'auto' }
}
